/**
 * One record of every kind, as the store gives it back today. `versions/N.json` holds the same
 * content as version N of the database wrote it.
 */
import type {
  CloudAccount,
  Conversation,
  Decision,
  Grant,
  Message,
  ModelRecord,
  Part,
  Reminder,
  ServerRecord,
  Settings,
  ToolListRecord,
} from '../../../src/store/records.ts';

export const conversations: readonly Conversation[] = [
  {
    id: 'c1',
    title: 'Mumbai',
    createdAt: 1_796_000_000_000,
    updatedAt: 1_796_000_005_000,
    mode: 'auto',
    draft: 'half a sen',
    queue: ['And book it.'],
    private: true,
    pinned: true,
  },
];

export const messages: readonly Message[] = [
  {
    id: 'm1',
    conversation: 'c1',
    seq: 0,
    role: 'user',
    createdAt: 1_796_000_000_000,
    state: 'done',
  },
  {
    id: 'm2',
    conversation: 'c1',
    seq: 1,
    role: 'assistant',
    createdAt: 1_796_000_005_000,
    state: 'done',
  },
];

const callBase = {
  kind: 'call',
  step: 0,
  server: 's1',
  serverName: 'Travel',
  tool: 'get_weather',
  title: 'Weather',
  modelName: 'travel_get_weather',
  pin: 'ab12',
  args: { city: 'Mumbai', date: '2026-11-30', nested: { list: [1, null, true] } },
  days: [{ argument: 'date', said: 'tomorrow', value: '2026-11-30', shown: 'Monday, 30 November' }],
  readOnly: true,
  startedAt: 1_796_000_001_000,
  endedAt: 1_796_000_002_000,
} as const;

/** By message id. */
export const parts: Readonly<Record<string, readonly Part[]>> = {
  m1: [{ kind: 'text', step: 0, text: 'What’s the weather in Mumbai tomorrow? 😀' }],
  m2: [
    {
      kind: 'route',
      step: 0,
      place: 'cloud',
      brain: 'cloud:a1:m',
      label: 'A model',
      rule: 'mode',
      reason: 'You chose Cloud.',
      offered: ['travel_get_weather'],
    },
    { kind: 'thinking', step: 0, text: 'The weather.' },
    {
      ...callBase,
      callId: 'k1',
      state: 'done',
      outcome: {
        kind: 'result',
        content: [
          { type: 'text', text: 'light rain' },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
        structured: { high_c: 29 },
      },
    },
    {
      ...callBase,
      callId: 'k2',
      state: 'done',
      outcome: { kind: 'tool_error', content: [{ type: 'text', text: 'no such city' }] },
    },
    {
      ...callBase,
      callId: 'k3',
      state: 'done',
      outcome: { kind: 'unavailable', code: 'offline', message: 'No network.', advice: 'Wait.' },
    },
    {
      ...callBase,
      callId: 'k4',
      state: 'done',
      outcome: { kind: 'timeout', message: 'Too slow.', advice: 'Try again.' },
    },
    {
      ...callBase,
      callId: 'k5',
      state: 'done',
      outcome: { kind: 'unknown', message: 'It broke off.', advice: 'Look.' },
    },
    { ...callBase, callId: 'k6', state: 'denied', why: 'You have not allowed it.', reason: 'No' },
    { kind: 'badcall', step: 0, callId: 'k7', name: 'nope', raw: 'nope(', error: 'No such tool.' },
    {
      kind: 'step',
      step: 0,
      end: 'calls',
      usage: {
        promptTokens: 10,
        cachedTokens: 5,
        outputTokens: 3,
        firstTokenMs: 120.5,
        tokensPerSecond: 7.25,
        cost: 0.0001,
      },
      sent: { to: 'api.example.test', text: '{"messages":[]}' },
      error: 'none',
    },
    {
      kind: 'notice',
      step: 1,
      code: 'limit-steps',
      text: 'That took 8 steps.',
      advice: 'Go on?',
      action: 'continue',
      detail: 'steps',
    },
    { kind: 'text', step: 1, text: 'Light rain, up to 29 °C.' },
  ],
};

export const servers: readonly ServerRecord[] = [
  {
    id: 's1',
    name: 'Travel',
    url: 'https://travel.example.test/mcp',
    addedAt: 1_796_000_000_000,
    enabled: true,
    trustHints: true,
    private: false,
    keyHeader: 'Authorization',
    era: { kind: 'modern', at: 1_796_000_000_000 },
    lastError: { at: 1, code: 'offline', message: 'No network.', advice: 'Wait.' },
  },
];

export const lists: readonly ToolListRecord[] = [
  {
    server: 's1',
    fetchedAt: 1_796_000_000_000,
    ttlMs: 60_000,
    tools: [
      {
        name: 'get_weather',
        title: 'Weather',
        description: 'The weather of a city.',
        inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
        outputSchema: { type: 'object' },
        annotations: { title: 'Weather', readOnlyHint: true },
        pin: 'ab12',
      },
    ],
    off: ['book'],
  },
];

export const grants: readonly Grant[] = [
  {
    id: 'g1',
    server: 's1',
    tool: 'get_weather',
    pin: 'ab12',
    verdict: 'allow',
    createdAt: 1_796_000_000_000,
  },
  {
    id: 'g2',
    server: 's1',
    tool: 'book',
    pin: 'cd34',
    conversation: 'c1',
    verdict: 'deny',
    createdAt: 1_796_000_000_000,
  },
];

export const decisions: readonly Decision[] = [
  {
    callId: 'k6',
    conversation: 'c1',
    allow: false,
    scope: 'once',
    reason: 'No',
    at: 1_796_000_002_000,
  },
];

export const reminders: readonly Reminder[] = [
  {
    id: 'r1',
    text: 'Pack a raincoat',
    at: 1_796_000_900_000,
    createdAt: 1_796_000_000_000,
    state: 'waiting',
  },
];

export const accounts: readonly CloudAccount[] = [
  {
    id: 'a1',
    kind: 'openai',
    preset: 'openrouter',
    label: 'OpenRouter',
    baseUrl: 'https://openrouter.example.test/api/v1',
    model: 'm',
    contextTokens: 128_000,
  },
];

export const models: readonly ModelRecord[] = [
  { id: 'gemma3-270m-tools', state: 'failed', bytes: 5, updatedAt: 1, error: 'No room.' },
];

export const settings: Partial<Settings> = {
  theme: 'dark',
  mode: 'phone',
  phoneModel: 'gemma3-270m-tools',
  cloudAccount: 'a1',
  firstRunDone: true,
  limits: { steps: 4, calls: 5, equalCalls: 1, ms: 1_000, tokens: 2_000 },
};

export const secret = { name: 'cloud:a1', iv: [1, 2, 3], data: [4, 5, 6, 7] } as const;
