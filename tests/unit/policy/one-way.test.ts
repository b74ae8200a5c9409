/** Nothing reaches a tool but through the loop's gate: the rule that says so, tried on what it forbids. */
import { ESLint } from 'eslint';
import { expect, test } from 'vitest';

const eslint = new ESLint();

async function faults(code: string, filePath: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath });
  return (result?.messages ?? [])
    .filter(({ ruleId }) => ruleId === 'no-restricted-syntax')
    .map(({ message }) => message);
}

test('code that calls a tool past the gate is an error of the lint, wherever it stands', async () => {
  const ways = [
    'export const run = (host: { callTool(): void }) => host.callTool();\n',
    "export const run = (client: Record<string, () => void>) => client['callTool']?.();\n",
    'export const run = (toolbox: { call(): void }) => toolbox.call();\n',
    'export const run = (ports: { toolbox: { call(): void } }) => ports.toolbox.call();\n',
    'export const run = (ports: { toolbox: { resume(): void } }) => ports.toolbox.resume();\n',
    "export const run = (toolbox: Record<string, () => void>) => toolbox['call']?.();\n",
    'export function run(host: { callTool(): void }) {\n  const { callTool } = host;\n  callTool();\n}\n',
    'export function run(toolbox: { call(): void }) {\n  const { call } = toolbox;\n  call();\n}\n',
    'export function run(ports: { toolbox: { call(): void } }) {\n  const { call: send } = ports.toolbox;\n  send();\n}\n',
    'export function run(toolbox: { call(): void }) {\n  const tools = toolbox;\n  tools.call();\n}\n',
    'export function run({ toolbox: tools }: { toolbox: { call(): void } }) {\n  tools.call();\n}\n',
  ];
  for (const place of ['src/app.ts', 'src/agent/loop.ts', 'src/ui/home.ts', 'src/phone/phone.ts'])
    for (const code of ways) expect(await faults(code, place), `${place}: ${code}`).toHaveLength(1);
}, 120_000);

test('nobody makes a client of the protocol but the host', async () => {
  const code =
    "import { Client } from '@modelcontextprotocol/client';\nexport const made = Client;\n";
  for (const place of ['src/app.ts', 'src/agent/loop.ts', 'src/ui/home.ts', 'src/brain/brain.ts']) {
    const [result] = await eslint.lintText(code, { filePath: place });
    const rules = result?.messages.map(({ ruleId }) => ruleId);
    expect(rules, place).toContain('@typescript-eslint/no-restricted-imports');
  }
}, 120_000);

test('the one way is open: the loop’s calls, the toolbox, the host', async () => {
  const through = 'export const run = (toolbox: { call(): void }) => toolbox.call();\n';
  expect(await faults(through, 'src/agent/calls.ts')).toEqual([]);
  const called = 'export const run = (host: { callTool(): void }) => host.callTool();\n';
  expect(await faults(called, 'src/mcp/toolbox.ts')).toEqual([]);
  expect(await faults(called, 'src/agent/calls.ts')).toHaveLength(1);
}, 120_000);

test('calls.ts sends in one place, behind the claim of a call that the gate let through', async () => {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(new URL('../../../src/agent/calls.ts', import.meta.url), 'utf8');
  expect(text.match(/toolbox\.call\(/g)).toHaveLength(1);
});
