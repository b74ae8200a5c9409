/**
 * Stands between a model's wish and an action: run, ask or refuse, with the reason in words; and
 * takes the person's answers.
 *
 * Promises: asking is the default; a grant holds for one definition of a tool, so a changed tool
 * asks again; words that others wrote, and what a model may have made of them, are never acted on
 * without a question, whatever was granted; a question is answered exactly once, in whichever tab,
 * everyone who waits for the answer gets that one, and one that nobody answers in time is a no.
 */
import { canonicalJson } from '../store/canonical.ts';
import type { Tool } from '../mcp/types.ts';
import type { Decision, Grant, PinnedArguments } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type * as Consequential from './consequential.ts';
import type * as Definitions from './definitions.ts';
import { plainName } from './names.ts';
import type * as Taint from './taint.ts';
import type { Answer, Approvals, Gate, Verdict } from './types.ts';

/**
 * Milliseconds between two looks at a question that waits. A change is announced at once; this is
 * for a tab that was killed between its decision and the announcement.
 */
const LOOK_AGAIN_MS = 5_000;

/** Milliseconds that a question waits while somebody could answer it; then it is a no. */
const PATIENCE_MS = 15 * 60_000;

/** The pin of a no that holds for whatever a server makes of the tool. */
export const ANY_PIN = '*';

/** One grant for each tool, scope and set of arguments, so that a later answer replaces an earlier one. */
const grantId = (
  server: string,
  tool: string,
  conversation: string | null,
  args?: PinnedArguments,
): string => {
  const scope = [server, tool, conversation];
  return JSON.stringify(args ? [...scope, canonicalJson(args)] : scope);
};

/** Whether a grant covers these arguments: each as it was fixed, none beside them but the free ones. */
export function coversArguments(
  grant: Pick<Grant, 'args'>,
  args: Readonly<Record<string, unknown>>,
): boolean {
  if (!grant.args) return true;
  const { fixed, free } = grant.args;
  const bound = Object.fromEntries(Object.entries(args).filter(([name]) => !free.includes(name)));
  return canonicalJson(bound) === canonicalJson(fixed);
}

/** Whether a grant is pinned to something; where every argument is free it covers any call. */
const fixesAny = ({ args }: Pick<Grant, 'args'>): boolean =>
  args !== undefined && (Object.keys(args.fixed).length > 0 || args.free.length === 0);

const isFixed = ({ fixed }: PinnedArguments, names: readonly string[]): boolean =>
  names.every((name) => Object.hasOwn(fixed, name));

/** What a judgement is made from. */
interface Case {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly conversation: string;
  /** Of this tool: every scope and definition. */
  readonly grants: readonly Grant[];
  readonly consequential: boolean;
  /** The source of words that the arguments carry and the person did not say. */
  readonly tainted: string | null;
  /** The source that may have wished for this call, which the person did not. */
  readonly wished: string | null;
  /**
   * The newest source of untrusted text, where the arguments are not all the person's own; of what is
   * consequential also another server whose tools' definitions speak of it or of its values.
   */
  readonly unproved: string | null;
  /**
   * The newest source, where the call is consequential and its arguments are not all words of the
   * person's newest message; where they carry no word, that message has to name the tool.
   */
  readonly stale: string | null;
  /** Who gave a picture that the model was shown, which nobody here can read. */
  readonly pictured: string | null;
  /** The newest source of untrusted text, where the arguments hold an address that nobody has named. */
  readonly made: string | null;
  /** By its name it only looks something up. */
  readonly looksUp: boolean;
}

/**
 * The rules, in order; the first that fits decides.
 *
 * | when                                                                    | then   |
 * |-------------------------------------------------------------------------|--------|
 * | the person said never, or no for this definition                        | refuse |
 * | a tool of the phone that only reads                                     | run    |
 * | an argument carries words found only in untrusted text, or in what another server says of its tools | ask |
 * | untrusted text, or another server's tool, speaks of this tool and the person does not; it does not only read | ask |
 * | after untrusted text, an address in the arguments that nobody has named | ask    |
 * | the definition changed since an answer                                  | ask    |
 * | the tool only reads, and its server is trusted                          | run    |
 * | consequential, arguments not all the person's own, and another server's definition speaks of the tool or of such a value | ask |
 * | consequential, after untrusted text, arguments not all the person's own; of their newest message, where the yes is for every conversation | ask |
 * | consequential, after a picture of somebody else was shown to the model  | ask    |
 * | changing something, after untrusted text, arguments neither all the person's own nor pinned | ask |
 * | a yes for this tool, definition, conversation and these arguments; of a consequential tool always only with pinned arguments, or after a warning | run |
 * | anything else                                                           | ask    |
 */
function judge(it: Case): Omit<Verdict, 'origins' | 'consequential'> {
  const { tool, grants } = it;
  const named = `${plainName(tool.title || tool.name)} on ${plainName(tool.serverName)}`;
  const holding = grants.filter(
    (grant) =>
      (grant.pin === tool.pin || (grant.verdict === 'deny' && grant.pin === ANY_PIN)) &&
      (grant.conversation === undefined || grant.conversation === it.conversation) &&
      coversArguments(grant, it.args),
  );

  const denial = holding.find(({ verdict }) => verdict === 'deny');
  if (denial)
    return {
      verdict: 'refuse',
      why: `You do not allow ${named}${denial.conversation === undefined ? '' : ' in this conversation'}.`,
    };
  if (tool.local && tool.readOnly)
    return { verdict: 'run', why: `${named} only reads, and it stays on this phone.` };

  if (it.tainted !== null)
    return {
      verdict: 'ask',
      why: `It carries words that came from ${plainName(it.tainted)}, not from you, so you are asked whatever you allowed.`,
    };
  if (it.wished !== null && !tool.readOnly)
    return {
      verdict: 'ask',
      why: `Your words do not name ${named}, and text from ${plainName(it.wished)} may have led to it, so you are asked whatever you allowed.`,
    };

  if (it.made !== null)
    return {
      verdict: 'ask',
      why: `It holds an address or a code that you did not give, and what ${plainName(it.made)} gave came before it, so you are asked whatever you allowed.`,
    };

  const outdated = grants.find(({ pin }) => pin !== tool.pin && pin !== ANY_PIN);
  const renewed = holding.some(({ verdict }) => verdict === 'allow');
  if (outdated && !renewed) {
    const did = outdated.verdict === 'allow' ? 'allowed it' : 'said no to it';
    return {
      verdict: 'ask',
      why: `${named} has changed since you ${did}, so you are asked again.`,
    };
  }
  if (tool.readOnly)
    return { verdict: 'run', why: `${named} only reads, and you trust what that server says.` };

  const pinned = holding.some(
    ({ verdict, args }) =>
      verdict === 'allow' && args !== undefined && isFixed(args, Object.keys(it.args)),
  );
  if ((it.consequential || !(it.looksUp || pinned)) && it.unproved !== null)
    return {
      verdict: 'ask',
      why: `Not all of this is in your own words, and what ${plainName(it.unproved)} gave came before it, so you are asked whatever you allowed.`,
    };
  const here = holding.some(
    ({ verdict, conversation }) => verdict === 'allow' && conversation !== undefined,
  );
  if (!here && !pinned && it.stale !== null)
    return {
      verdict: 'ask',
      why: `You did not say all of this just now, and what ${plainName(it.stale)} gave came before it, so you are asked whatever you allowed.`,
    };
  if (it.consequential && it.pictured !== null)
    return {
      verdict: 'ask',
      why: `A picture from ${plainName(it.pictured)} was among what the model saw, and what it says cannot be checked, so you are asked whatever you allowed.`,
    };
  const allowance = holding.find(
    (grant) =>
      grant.verdict === 'allow' &&
      (!it.consequential || grant.conversation !== undefined || grant.warned || fixesAny(grant)),
  );
  if (allowance) {
    const when = allowance.conversation === undefined ? 'always' : 'in this conversation';
    const what = allowance.args ? `${named} with these arguments` : named;
    return { verdict: 'run', why: `You allowed ${what} ${when}.` };
  }
  return { verdict: 'ask', why: `You have not allowed ${named} yet.` };
}

const NOBODY = 'nobody answered in time';

const toAnswer = ({ allow, scope, reason }: Decision): Answer =>
  reason === undefined ? { allow, scope } : { allow, scope, reason };

/** Waits until there is a decision for this call; listens before it looks, so none is missed. */
function waitForDecision(
  store: Pick<Store, 'decisions' | 'changes'>,
  { callId, conversation }: { readonly callId: string; readonly conversation: string },
  patienceMs: number,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const settle = () => {
      unsubscribe();
      clearInterval(timer);
      clearTimeout(patience);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = () => {
      settle();
      reject(signal.reason as Error);
    };
    const look = () => {
      store.decisions.get(callId).then(
        (decision) => {
          if (!decision) return;
          settle();
          resolve(toAnswer(decision));
        },
        (error: unknown) => {
          settle();
          reject(error as Error);
        },
      );
    };
    const unsubscribe = store.changes.subscribe((change) => {
      if (change.topic === 'decisions' && change.key === callId) look();
    });
    const timer = setInterval(look, LOOK_AGAIN_MS);
    const patience = setTimeout(() => {
      const no = { callId, conversation, allow: false, scope: 'once', reason: NOBODY } as const;
      // Where somebody was quicker, their answer stands.
      store.decisions.add({ ...no, at: Date.now() }).then(look, look);
    }, patienceMs);
    signal.addEventListener('abort', onAbort);
    look();
  });
}

export function createGate({
  store,
  patienceMs = PATIENCE_MS,
}: {
  readonly store: Pick<Store, 'decisions' | 'grants' | 'changes'>;
  readonly patienceMs?: number;
}): Gate & Approvals {
  const grantOf = (
    { server, tool, pin }: { readonly server: string; readonly tool: string; readonly pin: string },
    verdict: Grant['verdict'],
    more: Pick<Grant, 'conversation' | 'args' | 'warned'>,
  ): Grant => ({
    id: grantId(server, tool, more.conversation ?? null, more.args),
    server,
    tool,
    pin,
    verdict,
    createdAt: Date.now(),
    ...more,
  });

  /** What an answer settles for later calls. */
  async function settledBy(
    question: Parameters<Approvals['decide']>[0],
    { allow, scope, pinned }: Answer,
  ): Promise<Grant | undefined> {
    if (scope === 'once') return undefined;
    const made = grantOf(question, allow ? 'allow' : 'deny', {
      ...(scope === 'conversation' ? { conversation: question.conversation } : {}),
      ...(pinned ? { args: pinnedArguments(question.args, pinned.free) } : {}),
    });
    const old = allow ? undefined : await store.grants.get(made.id);
    // One more no does not narrow a never.
    return old?.verdict === 'deny' && old.pin === ANY_PIN ? { ...made, pin: ANY_PIN } : made;
  }

  return {
    async judge({ tool, args }, { conversation, said, untrusted, offered = [], pictures = [] }) {
      const [grants, read] = await Promise.all([
        store.grants.for(tool.server, tool.name),
        readers(),
      ]);
      const { isGrounded, carriesNothing, isMadeUp, originsOf, readKnown, wishedBy, wantedBy } =
        read;
      const { isConsequential, looksUp } = read;
      const consequential = isConsequential(tool);
      const others = read.definitionsOfOthers(tool, offered);
      const known = readKnown(said, untrusted, others);
      // What was said earlier is no wish for what cannot be undone now.
      const isMeant = (): boolean => {
        const meant = readKnown(said.slice(-1), untrusted, others);
        if (!isGrounded(args, tool, meant)) return false;
        return !carriesNothing(args, tool) || wishedBy(tool, consequential, meant) === null;
      };
      const newest = untrusted.at(-1)?.source ?? pictures.at(-1) ?? null;
      const origins = originsOf(args, tool, known, !tool.readOnly);
      const verdict = judge({
        tool,
        args,
        conversation,
        grants,
        consequential,
        tainted: origins.find(({ from }) => from === 'untrusted')?.source ?? null,
        wished: wishedBy(tool, consequential, known),
        pictured: pictures.at(-1) ?? null,
        unproved:
          (isGrounded(args, tool, known) ? null : newest) ??
          (consequential ? wantedBy(args, tool, known) : null),
        stale: consequential && !isMeant() ? newest : null,
        made: newest !== null && isMadeUp(args, tool, known) ? newest : null,
        looksUp: looksUp(tool),
      });
      return { ...verdict, consequential, ...(origins.length > 0 ? { origins } : {}) };
    },

    answer: (question, signal) => waitForDecision(store, question, patienceMs, signal),

    async decide(question, answer) {
      const { callId, conversation } = question;
      const { allow, scope, reason } = answer;
      const decision = { callId, conversation, allow, scope, at: Date.now() };
      // In one write: a no for good is never known without what it forbids.
      return store.decisions.add(
        reason === undefined ? decision : { ...decision, reason },
        await settledBy(question, answer),
      );
    },

    setMode(tool, mode, warned = false) {
      const next = {
        never: () => grantOf({ ...tool, pin: ANY_PIN }, 'deny', {}),
        allow: () => grantOf(tool, 'allow', warned ? { warned } : {}),
        ask: () => null,
      }[mode]();
      // In one write: a never has no moment in which it does not hold.
      return store.grants.replace(
        tool,
        ({ conversation, args }) => conversation === undefined && !args,
        next,
      );
    },
  };
}

/** What reads calls is loaded with the first of them, not with the first screen. */
function readers(): Promise<Readers> {
  loading ??= Promise.all([
    import('./taint.ts'),
    import('./consequential.ts'),
    import('./definitions.ts'),
  ])
    .then(([taint, consequential, definitions]) => ({ ...taint, ...consequential, ...definitions }))
    .catch((error: unknown) => {
      loading = null;
      throw error;
    });
  return loading;
}

type Readers = typeof Taint & typeof Consequential & typeof Definitions;
let loading: Promise<Readers> | null = null;

function pinnedArguments(
  args: Readonly<Record<string, unknown>>,
  free: readonly string[],
): PinnedArguments {
  const fixed = Object.entries(args).filter(([name]) => !free.includes(name));
  return { fixed: Object.fromEntries(fixed), free };
}
