/**
 * Plays conversations of several steps, with tools that training never saw, and counts what comes
 * out right: greedily, in the app's own dialect and under its grammar, by llama.cpp on the CPU.
 *
 *   npm install --prefix .cache/gemma-tools node-llama-cpp@3.21.1
 *   npx tsx tools/gemma-tools/evaluation/play.mjs MODEL.gguf [test|dev] [--show]
 *
 * The expected result is given back after each right step; the first wrong one ends a conversation.
 * `dev` may be looked at while training is worked on; `test` is for the final figure.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gemma3 } from '../../../src/brain/local/dialect/gemma3.ts';
import { readDay } from '../../../src/mcp/days.ts';

const NOW = { text: 'Sunday 2026-11-29 14:05, Asia/Kolkata', zone: 'Asia/Kolkata' };
const INSTANT = new Date('2026-11-29T14:05:00+05:30');
const MOST_TOKENS = 200;
const THREADS = 2;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { show: { type: 'boolean', default: false } },
});
const [modelPath, set = 'test'] = positionals;
if (!modelPath) {
  console.error('Usage: play.mjs MODEL.gguf [test|dev] [--show]');
  process.exit(2);
}
const file = join(import.meta.dirname, `conversations-${set}.json`);
const groups = JSON.parse(readFileSync(file, 'utf8'));

const cache = resolve(import.meta.dirname, '../../../.cache/gemma-tools/package.json');
const llamaModule = createRequire(cache).resolve('node-llama-cpp');
const { getLlama, LlamaGrammarEvaluationState } = await import(pathToFileURL(llamaModule).href);
const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error' });
const model = await llama.loadModel({ modelPath: resolve(modelPath), gpuLayers: 0 });
const context = await model.createContext({
  contextSize: 2048,
  threads: THREADS,
  swaFullCache: true,
});
const sequence = context.getSequence();

async function generate(prompt, grammar) {
  const tokens = [model.tokens.bos, ...model.tokenize(prompt, true)];
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
  const rest = tokens.slice(sequence.nextTokenIndex);
  const grammarEvaluationState = new LlamaGrammarEvaluationState({
    model,
    grammar: await llama.createGrammar({ grammar }),
  });
  const written = [];
  for await (const token of sequence.evaluate(rest, { temperature: 0, grammarEvaluationState })) {
    if (model.isEogToken(token)) break;
    written.push(token);
    if (written.length === MOST_TOKENS) break;
  }
  return model.detokenize(written);
}

function read(reply, tools) {
  const reader = gemma3.reader(tools);
  return [...reader.push(reply), ...reader.end(false)];
}

const plain = (text) => text.replace(/[ ,./\-_*^]/g, '').toLowerCase();

function same(given, expected) {
  if (typeof given !== 'string' || typeof expected !== 'string')
    return JSON.stringify(given) === JSON.stringify(expected);
  if (plain(given) === plain(expected)) return true;
  // The app resolves days in words before a tool is called.
  const isDay = /^\d{4}-\d\d-\d\d$/.test(expected);
  return isDay && readDay(given, 'date', INSTANT, NOW.zone)?.value === expected;
}

function isRight(call, expected) {
  if (call?.name !== expected.name || !call.args) return false;
  const keys = new Set([...Object.keys(call.args), ...Object.keys(expected.arguments)]);
  return [...keys].every((key) => {
    const accepted = expected.accept?.[key] ?? [expected.arguments[key]];
    return accepted.some((value) => same(call.args[key], value));
  });
}

const holds = (text, words) => words.split('|').some((word) => text.includes(word.toLowerCase()));

/** How many calls came out right, and whether the last sentence did. */
async function play({ request, steps }, tools) {
  const messages = [{ role: 'user', text: request }];
  const grammar = gemma3.grammar({ tools, toolChoice: 'auto' });
  const trace = [request];
  let rightSteps = 0;
  let isWhole = false;
  for (const step of steps) {
    const asked = { now: NOW.text, messages, tools, toolChoice: 'auto' };
    const reply = await generate(gemma3.render(asked).join(''), grammar);
    trace.push(reply);
    const events = read(reply, tools);
    const calls = events.filter((event) => event.type === 'call');
    if (!step.calls) {
      const text = reply.toLowerCase();
      isWhole =
        calls.length === 0 &&
        step.says.every((words) => holds(text, words)) &&
        !(step.never ?? []).some((words) => holds(text, words));
      break;
    }
    const expected = step.calls;
    if (calls.length !== expected.length || !calls.every((call, i) => isRight(call, expected[i])))
      break;
    rightSteps++;
    const made = calls.map((call, i) => ({ ...call, id: `${messages.length}-${i}` }));
    messages.push({ role: 'assistant', text: '', calls: made });
    // One result for the whole step, as the conversations have it.
    const { id: callId, name } = made[0];
    const text = JSON.stringify(step.result);
    messages.push({ role: 'tool', callId, name, text, isError: false });
    trace.push(`=> ${text}`);
  }
  return { rightSteps, allSteps: steps.length - 1, isWhole, trace };
}

const counts = { conversations: 0, first: 0, calls: 0, whole: 0 };
for (const { tools, cases } of groups)
  for (const conversation of cases) {
    const { rightSteps, allSteps, isWhole, trace } = await play(conversation, tools);
    counts.conversations++;
    if (rightSteps > 0) counts.first++;
    if (rightSteps === allSteps) counts.calls++;
    if (isWhole) counts.whole++;
    console.log(
      `${conversation.id}: ${rightSteps} of ${allSteps} steps${isWhole ? ', whole' : ''}`,
    );
    if (values.show) console.log(trace.map((text) => `    ${text}`).join('\n'));
  }
console.log(
  `Of ${counts.conversations} conversations: first call right in ${counts.first}, ` +
    `all calls in ${counts.calls}, the whole in ${counts.whole}.`,
);
process.exit(0);
