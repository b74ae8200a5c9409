/** The archive's format: one JSON document, and the check that all of it is what it claims to be. */
import type {
  ArgumentOrigin,
  Asked,
  AttachmentPart,
  CallPart,
  CloudAccount,
  ContentBlock,
  ContextUse,
  Conversation,
  ForeignPiece,
  ForeignText,
  Grant,
  Message,
  NoticePart,
  Outcome,
  OutcomeDetail,
  Part,
  PinnedArguments,
  PromptDefinition,
  Queued,
  Reminder,
  ResourceDefinition,
  ResourceTemplateDefinition,
  RoutePart,
  Seen,
  Sent,
  ServerRecord,
  Settings,
  StepPart,
  Summary,
  TextPart,
  TokenPrice,
  ToolAnnotations,
  ToolDefinition,
  ToolListRecord,
  ToolRule,
  TurnLimits,
  UndoRule,
} from './records.ts';
import {
  address,
  amount,
  byKind,
  exactly,
  flag,
  id,
  json,
  jsonObject,
  list,
  nullable,
  object,
  oneOf,
  optional,
  text,
  time,
  whole,
  wrong,
  type Check,
} from './shape.ts';

export const ARCHIVE_FORMAT = 'deft-archive';
export const ARCHIVE_VERSION = 1;

export type ArchivedMessage = Pick<Message, 'id' | 'role' | 'createdAt' | 'state'> & {
  readonly parts: readonly Part[];
};

export interface ArchivedConversation {
  readonly conversation: Conversation;
  /** In order; a message's place is its index. */
  readonly messages: readonly ArchivedMessage[];
}

/** Without what was last found out about the server, and without secrets. */
export type ArchivedServer = Omit<ServerRecord, 'era' | 'lastError' | 'transport'>;

/** What a person chose, without what is true of one phone only. */
export type ArchivedSettings = Partial<
  Pick<Settings, 'theme' | 'mode' | 'cloudAccount' | 'limits'>
>;

export interface ArchiveDocument {
  readonly format: typeof ARCHIVE_FORMAT;
  readonly version: number;
  readonly exportedAt: number;
  readonly settings: ArchivedSettings;
  readonly servers: readonly ArchivedServer[];
  readonly lists: readonly ToolListRecord[];
  readonly grants: readonly Grant[];
  readonly reminders: readonly Reminder[];
  readonly accounts: readonly CloudAccount[];
  readonly conversations: readonly ArchivedConversation[];
}

const mode = oneOf('phone', 'auto', 'cloud');

const block: Check<ContentBlock> = (value, path) => {
  const read = jsonObject(value, path);
  return { ...read, type: text(read['type'], `${path}.type`) };
};

const sent = object<Sent>({ to: text, text });

const detail = optional(
  object<OutcomeDetail>({
    seen: optional(
      object<Seen>({
        status: nullable(whole),
        headers: (value, path) => {
          const named = Object.entries(jsonObject(value, path));
          return Object.fromEntries(
            named.map(([name, one]) => [name, text(one, `${path}.${name}`)]),
          );
        },
        code: optional((value, path) =>
          Number.isSafeInteger(value) ? (value as number) : wrong(path, 'is not a whole number'),
        ),
      }),
    ),
    text: optional(text),
  }),
);

type Ended<K extends Outcome['kind']> = Extract<Outcome, { kind: K }>;

const outcome = byKind<Outcome>({
  result: object<Ended<'result'>>({
    kind: exactly('result'),
    content: list(block),
    structured: optional(json),
    note: optional(text),
  }),
  tool_error: object<Ended<'tool_error'>>({
    kind: exactly('tool_error'),
    content: list(block),
    detail,
  }),
  unavailable: object<Ended<'unavailable'>>({
    kind: exactly('unavailable'),
    code: text,
    message: text,
    advice: text,
    detail,
  }),
  timeout: object<Ended<'timeout'>>({
    kind: exactly('timeout'),
    message: text,
    advice: text,
    detail,
  }),
  unknown: object<Ended<'unknown'>>({
    kind: exactly('unknown'),
    message: text,
    advice: text,
    detail,
  }),
});

const asked = object<Asked>({
  kind: oneOf('form', 'url', 'model'),
  message: text,
  answer: oneOf('sent', 'declined', 'cancelled', 'ended'),
  at: time,
  ms: amount,
  label: optional(text),
  place: optional(oneOf('phone', 'cloud')),
  promptTokens: optional(amount),
  outputTokens: optional(amount),
  cost: optional(amount),
  sent: optional(sent),
});

const call = object<CallPart>({
  kind: exactly('call'),
  step: whole,
  callId: id,
  server: id,
  serverName: text,
  tool: id,
  title: text,
  modelName: text,
  pin: text,
  args: jsonObject,
  days: list(object({ argument: text, said: text, value: text, shown: text })),
  mended: optional(text),
  readOnly: flag,
  state: oneOf('proposed', 'asked', 'allowed', 'denied', 'refused', 'running', 'done'),
  why: optional(text),
  origins: optional(
    list(
      object<ArgumentOrigin>({
        path: text,
        start: whole,
        end: whole,
        text,
        from: oneOf('person', 'untrusted'),
        source: optional(text),
      }),
    ),
  ),
  consequential: optional(flag),
  undoes: optional(id),
  reason: optional(text),
  startedAt: optional(time),
  endedAt: optional(time),
  task: optional(text),
  outcome: optional(outcome),
  asked: optional(list(asked)),
});

const attachment = object<AttachmentPart>({
  kind: exactly('attachment'),
  step: whole,
  server: id,
  serverName: text,
  uri: text,
  name: text,
  content: list(block),
  at: time,
  private: optional(flag),
});

const pieces = list(object<ForeignPiece>({ source: text, start: whole, end: whole }));

const part = byKind<Part>({
  text: object<TextPart>({ kind: exactly('text'), step: whole, text, foreign: optional(pieces) }),
  thinking: object({ kind: exactly('thinking'), step: whole, text }),
  route: object<RoutePart>({
    kind: exactly('route'),
    step: whole,
    place: oneOf('phone', 'cloud'),
    brain: text,
    label: text,
    rule: text,
    reason: text,
    offered: list(text),
    context: optional(
      object<ContextUse>({
        window: amount,
        answer: amount,
        system: amount,
        tools: amount,
        earlier: amount,
        words: amount,
        results: amount,
        attached: optional(amount),
        dropped: whole,
      }),
    ),
    pictures: optional(list(text)),
  }),
  step: object<StepPart>({
    kind: exactly('step'),
    step: whole,
    end: oneOf('stop', 'calls', 'length', 'aborted', 'error'),
    usage: object<StepPart['usage']>({
      promptTokens: optional(amount),
      cachedTokens: optional(amount),
      outputTokens: optional(amount),
      firstTokenMs: optional(amount),
      tokensPerSecond: optional(amount),
      cost: optional(amount),
    }),
    decision: optional(text),
    sent: optional(sent),
    error: optional(text),
  }),
  call,
  badcall: object({
    kind: exactly('badcall'),
    step: whole,
    callId: id,
    name: text,
    raw: text,
    error: text,
  }),
  notice: object<NoticePart>({
    kind: exactly('notice'),
    step: whole,
    code: text,
    text,
    advice: optional(text),
    action: optional(oneOf('continue', 'retry', 'cloud', 'models', 'keys', 'servers')),
    detail: optional(text),
  }),
  attachment,
});

const queued: Check<Queued> = (value, path) =>
  typeof value === 'string'
    ? value
    : object<Exclude<Queued, string>>({
        text,
        attached: list(attachment),
        foreign: optional(pieces),
      })(value, path);

/** Where it came from is known here, and not taken from the file. */
const conversation = object<Omit<Conversation, 'source'>>({
  id,
  title: text,
  createdAt: time,
  updatedAt: time,
  mode,
  draft: text,
  attached: optional(list(attachment)),
  foreign: optional(list(object<ForeignText>({ source: text, text }))),
  queue: list(queued),
  private: flag,
  pinned: flag,
  summary: optional(
    object<Summary>({ turns: whole, text, by: text, at: time, sent: optional(sent) }),
  ),
});

const message = object<ArchivedMessage>({
  id,
  role: oneOf('user', 'assistant'),
  createdAt: time,
  state: oneOf('running', 'done', 'stopped', 'paused'),
  parts: list(part),
});

const server = object<ArchivedServer>({
  id,
  name: text,
  unnamed: optional(flag),
  url: address,
  addedAt: time,
  enabled: flag,
  trustHints: flag,
  private: flag,
  keyHeader: optional(text),
  limits: optional(
    object<NonNullable<ServerRecord['limits']>>({
      connectMs: optional(whole),
      callMs: optional(whole),
    }),
  ),
  sampling: optional(flag),
  proxy: optional(address),
  auth: optional(exactly('oauth')),
});

const listKind = oneOf('tools', 'prompts', 'resources', 'templates');

const prompt = object<PromptDefinition>({
  name: text,
  title: optional(text),
  description: optional(text),
  arguments: optional(
    list(
      object<NonNullable<PromptDefinition['arguments']>[number]>({
        name: text,
        title: optional(text),
        description: optional(text),
        required: optional(flag),
      }),
    ),
  ),
});

const resource = object<ResourceDefinition>({
  uri: text,
  name: text,
  title: optional(text),
  description: optional(text),
  mimeType: optional(text),
  size: optional(amount),
});

const template = object<ResourceTemplateDefinition>({
  uriTemplate: text,
  name: text,
  title: optional(text),
  description: optional(text),
  mimeType: optional(text),
});

const tool = object<ToolDefinition & { readonly pin: string }>({
  name: id,
  title: optional(text),
  description: optional(text),
  inputSchema: jsonObject,
  outputSchema: optional(jsonObject),
  annotations: optional(
    object<ToolAnnotations>({
      title: optional(text),
      readOnlyHint: optional(flag),
      destructiveHint: optional(flag),
      idempotentHint: optional(flag),
      openWorldHint: optional(flag),
    }),
  ),
  execution: optional(
    object<NonNullable<ToolDefinition['execution']>>({
      taskSupport: optional(oneOf('forbidden', 'optional', 'required')),
    }),
  ),
  undo: optional(object<UndoRule>({ tool: id, arguments: jsonObject })),
  pin: text,
});

const document = object<ArchiveDocument>({
  format: exactly(ARCHIVE_FORMAT),
  version: whole,
  exportedAt: time,
  settings: object<ArchivedSettings>({
    theme: optional(oneOf('system', 'light', 'dark')),
    mode: optional(mode),
    cloudAccount: optional(nullable(id)),
    limits: optional(
      object<TurnLimits>({
        steps: whole,
        calls: whole,
        equalCalls: whole,
        ms: whole,
        tokens: whole,
        toolCalls: optional(whole),
        dayCost: optional(amount),
      }),
    ),
  }),
  servers: list(server),
  lists: list(
    // How the person wants calls undone is not among it: a file does not speak for them.
    object<Omit<ToolListRecord, 'undo'>>({
      server: id,
      fetchedAt: time,
      ttlMs: amount,
      tools: list(tool),
      off: list(text),
      held: optional(list(tool)),
      prompts: optional(list(prompt)),
      resources: optional(list(resource)),
      templates: optional(list(template)),
      cacheScope: optional(oneOf('public', 'private')),
      cut: optional(list(listKind)),
      known: optional(list(text)),
      rule: optional(object<ToolRule>({ readOnly: optional(flag), pattern: optional(text) })),
      missing: optional(
        list(
          object<NonNullable<ToolListRecord['missing']>[number]>({
            name: text,
            title: optional(text),
            at: time,
          }),
        ),
      ),
    }),
  ),
  grants: list(
    object<Grant>({
      id,
      server: id,
      tool: id,
      pin: text,
      conversation: optional(id),
      verdict: oneOf('allow', 'deny'),
      createdAt: time,
      args: optional(object<PinnedArguments>({ fixed: jsonObject, free: list(text) })),
      warned: optional(flag),
    }),
  ),
  reminders: list(
    object<Reminder>({
      id,
      text,
      at: time,
      createdAt: time,
      state: oneOf('waiting', 'shown', 'dismissed'),
    }),
  ),
  accounts: list(
    object<CloudAccount>({
      id,
      kind: oneOf('openai', 'anthropic', 'gemini'),
      preset: text,
      label: text,
      baseUrl: address,
      model: text,
      contextTokens: whole,
      images: optional(flag),
      price: optional(object<TokenPrice>({ input: amount, output: amount })),
    }),
  ),
  conversations: list(object<ArchivedConversation>({ conversation, messages: list(message) })),
});

function unique(keys: readonly string[], path: string): void {
  const seen = new Set<string>();
  for (const [index, key] of keys.entries()) {
    if (seen.has(key)) wrong(`${path}[${index}]`, 'has the same id as an earlier one');
    seen.add(key);
  }
}

/** Checks the whole document; throws a `ShapeError` at the first fault. */
export function readArchive(value: unknown): ArchiveDocument {
  const read = document(value, 'archive');
  for (const name of ['servers', 'grants', 'reminders', 'accounts'] as const)
    unique(
      read[name].map((record) => record.id),
      `archive.${name}`,
    );
  unique(
    read.lists.map((record) => record.server),
    'archive.lists',
  );
  unique(
    read.conversations.map((record) => record.conversation.id),
    'archive.conversations',
  );
  const messages = read.conversations.flatMap((record, at) =>
    record.messages.map((it, index) => ({
      key: it.id,
      place: `archive.conversations[${at}].messages[${index}]`,
    })),
  );
  const seen = new Set<string>();
  for (const { key, place } of messages) {
    if (seen.has(key)) wrong(place, 'has the same id as an earlier one');
    seen.add(key);
  }
  return read;
}
