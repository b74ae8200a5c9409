import js from '@eslint/js';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import importX from 'eslint-plugin-import-x';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

/**
 * The rooms and the arrows between them (docs: CONTRIBUTING.md). `may` lists the rooms whose code a
 * room may import, `types` those of which it may import types only. Everything else is an error.
 */
const ROOMS = ['agent', 'brain', 'router', 'mcp', 'policy', 'phone', 'store', 'ui', 'sw'];
const ARROWS = {
  store: { may: [], types: [] },
  brain: { may: ['store'], types: [] },
  router: { may: [], types: ['brain', 'store'] },
  mcp: { may: ['store'], types: ['brain'] },
  policy: { may: ['store', 'mcp'], types: [] },
  phone: { may: ['store'], types: ['mcp'] },
  agent: { may: [], types: ['brain', 'mcp', 'policy', 'router', 'store'] },
  ui: { may: [], types: ['agent', 'brain', 'router', 'mcp', 'policy', 'phone', 'store', 'sw'] },
  sw: { may: [], types: [] },
};

/** A client of one's own would be a way to a tool past the gate. */
const NO_PROTOCOL = {
  regex: '^@modelcontextprotocol/',
  message: 'Only mcp/ speaks the protocol, and phone/ as a server.',
};

const room = (names) => names.map((name) => `^(\\.\\./)+${name}/`).join('|');

const arrows = Object.entries(ARROWS).map(([name, { may, types }]) => {
  const never = ROOMS.filter((other) => other !== name && ![...may, ...types].includes(other));
  const patterns = [];
  if (never.length > 0)
    patterns.push({ regex: room(never), message: `${name}/ may not import from there.` });
  if (types.length > 0)
    patterns.push({
      regex: room(types),
      allowTypeImports: true,
      message: `${name}/ may import types only from there.`,
    });
  if (name !== 'ui')
    patterns.push({ regex: '^(\\.\\./)+(app|main)(\\.ts)?$', message: 'Only ui/ knows the app.' });
  if (name !== 'mcp' && name !== 'phone') patterns.push(NO_PROTOCOL);
  return {
    files: [`src/${name}/**/*.{ts,svelte}`],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] },
  };
});

/**
 * One way to a tool: the gate lies on it. Only the loop's calls.ts calls the toolbox, only the toolbox
 * the host. What these say must not be called there is not taken out or renamed either.
 */
const THROUGH_THE_GATE = 'Tools are called through the gate: agent/calls.ts and the toolbox.';
const CALL_TOOL = [
  'MemberExpression[property.name="callTool"]',
  'MemberExpression[property.value="callTool"]',
  'ObjectPattern > Property[key.name="callTool"]',
  'ObjectPattern > Property[key.value="callTool"]',
];
const OF_TOOLBOX = (node) =>
  `:matches([${node}.name="toolbox"], [${node}.property.name="toolbox"])`;
const CALL = [
  ...CALL_TOOL,
  `CallExpression[callee.property.name=/^(call|resume)$/]${OF_TOOLBOX('callee.object')}`,
  `MemberExpression[property.value=/^(call|resume)$/]${OF_TOOLBOX('object')}`,
  `VariableDeclarator[id.type="ObjectPattern"]${OF_TOOLBOX('init')} Property[key.name=/^(call|resume)$/]`,
  `VariableDeclarator[id.type="Identifier"][id.name!="toolbox"]${OF_TOOLBOX('init')}`,
  'ObjectPattern Property[key.name="toolbox"][value.type="Identifier"][value.name!="toolbox"]',
];
const never = (selectors) => ({
  'no-restricted-syntax': ['error', { selector: selectors.join(', '), message: THROUGH_THE_GATE }],
});
const HOST = 'src/mcp/{host,toolbox,calls,connection}.ts';
const oneWay = [
  { files: ['src/**/*.{ts,svelte}'], ignores: [HOST], rules: never(CALL) },
  { files: ['src/agent/calls.ts'], rules: never(CALL_TOOL) },
];

export default ts.config(
  { ignores: ['dist/', 'node_modules/', 'models/', 'tests/models/', 'test-results/', '.cache/'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    plugins: { 'import-x': importX },
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    settings: { 'import-x/resolver-next': [createTypeScriptImportResolver()] },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'import-x/no-default-export': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', caughtErrors: 'none', ignoreRestSiblings: true },
      ],
      'svelte/no-at-html-tags': 'error',
      'svelte/require-each-key': 'error',
      // Routes are hash-free paths of our own small router.
      'svelte/no-navigation-without-resolve': 'off',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
    rules: { 'import-x/no-default-export': 'off' },
  },
  { files: ['*.config.{js,ts}', '.size-limit.ts'], rules: { 'import-x/no-default-export': 'off' } },
  { files: ['tools/**', 'tests/**'], rules: { 'no-console': 'off' } },
  {
    files: ['src/*.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns: [NO_PROTOCOL] }] },
  },
  ...oneWay,
  ...arrows,
);
