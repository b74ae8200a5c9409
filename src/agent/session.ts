/**
 * One open conversation: stores the person's words, runs turns one at a time, queues what comes in
 * between, and takes up a turn that was cut off. Only one tab runs a conversation's turns (a lock);
 * the others follow through the store's changes.
 */
import type { BrainMessage } from '../brain/brain.ts';
import type { Answer, Approvals, Gate } from '../policy/types.ts';
import type { Router } from '../router/types.ts';
import type { Toolbox, UndoOffer } from '../mcp/types.ts';
import type {
  AttachmentPart,
  CallPart,
  Conversation,
  ForeignPiece,
  ForeignText,
  Message,
  Mode,
  NoticePart,
  Part,
  Queued,
} from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { actionOf } from './action-notes.ts';
import type { Activity } from './activity.ts';
import { dayOf, reachedOn, spentOn } from './day-cost.ts';
import { foreignPieces, textsOfPieces } from './foreign.ts';
import { resultChars } from './context.ts';
import { heardAround, heardIn, together } from './heard.ts';
import { TakenOver } from './journal.ts';
import type { TurnEnd } from './loop.ts';
import { attachedPictures } from './pictures.ts';
import type { Ports, Standing } from './run.ts';
import { clockLine, clockTime } from './prompt.ts';
import { createJournal } from './stored-journal.ts';
import {
  attachedText,
  pastMessages,
  summaryMessages,
  userMessage,
  type ResultText,
} from './transcript.ts';
import { isUndo, UNDO_WORDS } from './undo.ts';

export interface MessageView {
  readonly message: Message;
  readonly parts: readonly Part[];
}

export interface Question {
  readonly call: CallPart;
  /** Id of the message that holds it. */
  readonly message: string;
}

export interface SessionView {
  readonly conversation: Conversation;
  /** A message keeps its identity while it does not change. */
  readonly messages: readonly MessageView[];
  readonly activity: Activity;
  /** Open questions in order, those found after a restart included. */
  readonly questions: readonly Question[];
  /** Set where the last turn was cut off (killed tab), or words still wait behind it, and it can go on. */
  readonly interrupted: boolean;
}

export interface SendOptions {
  /** Sends this one turn to a place of the person's choice. */
  readonly place?: 'phone' | 'cloud';
  /** What hangs on the words; stored with them. */
  readonly attached?: readonly AttachmentPart[];
}

export interface Session {
  view(): SessionView;
  /** Called after every change; may be called many times a second while text streams. */
  subscribe(listener: (view: SessionView) => void): () => void;
  /**
   * Stores the words, then runs a turn; while one runs they queue. Resolves when the words are
   * durable, not when the turn ends. Rejects, with nothing stored, where there is no room.
   */
  send(text: string, options?: SendOptions): Promise<void>;
  /**
   * Takes a queued message back into the draft, with what hangs on it, in one write; null where it has
   * been sent meanwhile. What of it is others' stays theirs.
   */
  unqueue(index: number): Promise<Queued | null>;
  stop(): void;
  /** Goes on with a turn that was cut off, stopped, or ended by a limit or an error. */
  resume(options?: SendOptions): Promise<void>;
  /** False where the question had been answered before; then the earlier answer stands. */
  answer(callId: string, answer: Answer): Promise<boolean>;
  setMode(mode: Mode): Promise<void>;
  /**
   * Keeps what is typed. `foreign`: what others wrote of it (shared, or a prompt); what is still there
   * of that, word for word, when the draft is sent does not count as the person's words.
   */
  setDraft(text: string, foreign?: readonly ForeignText[]): Promise<void>;
  /** What hangs on the draft. Rejects, with nothing changed, where there is no room. */
  setAttached(attached: readonly AttachmentPart[]): Promise<void>;
  rename(title: string): Promise<void>;
  /**
   * Makes the call that undoes an earlier one, in a turn of its own: it is judged, asked about and
   * logged like any other. Resolves when that turn is stored, or with why there is none; at most one
   * undo of a call can have run, over all tabs.
   */
  undo(callId: string): Promise<Trouble | null>;
  /** Drops the last turn and runs it again, perhaps elsewhere; an undo is not done again. */
  regenerate(options?: SendOptions): Promise<void>;
  /**
   * Lets a model write a summary of the turns that its window no longer holds, and shows it that from
   * now on in their place. Resolves with what went wrong, or null.
   */
  summarise(): Promise<Trouble | null>;
  /** Takes the summary back: the model is shown what fits of the turns themselves. */
  forgetSummary(): Promise<void>;
  /** Lets go of it; a running turn goes on. */
  close(): void;
}

/** What went wrong, and what to do, as sentences for the person. */
export interface Trouble {
  readonly message: string;
  readonly advice: string;
}

/** Exclusive locks over all tabs. */
export interface Locks {
  /** Runs `work` holding the lock; resolves with false, at once, where somebody else holds it. */
  tryRun(name: string, work: () => Promise<void>): Promise<boolean>;
  held(name: string): Promise<boolean>;
  /** Resolves when nobody holds it. */
  free(name: string): Promise<void>;
}

export interface SessionPorts {
  readonly store: Store;
  readonly toolbox: Toolbox;
  readonly router: Router;
  readonly gate: Gate & Approvals;
  readonly resultText: ResultText;
  readonly locks: Locks;
  readonly clock: () => number;
  /** See `Ports.breathe`. */
  readonly breathe: () => Promise<void>;
  readonly timeZone: () => string;
  /** See `Ports.asked`. */
  readonly asked?: Ports['asked'];
  /** What would undo a call, if anything. */
  readonly undoOf?: (call: CallPart) => Promise<UndoOffer | null>;
}

const TITLE_LENGTH = 60;
/** Requests shorter than this lean on the one before them ("and on Saturday?"). */
const SHORT_REQUEST = 40;

const IDLE: Activity = { kind: 'idle' };

/** What runs turns: fetched behind what is shown of a conversation. */
const loop = () => import('./loop.ts');

/** Opens a conversation; null where there is none with that id. */
export async function openSession(id: string, ports: SessionPorts): Promise<Session | null> {
  const { store } = ports;
  // A turn that finds it missing says so.
  loop().catch(() => undefined);
  const lock = `deft-turn-${id}`;
  const listeners = new Set<(view: SessionView) => void>();
  let conversation: Conversation;
  let messages: readonly MessageView[] = [];
  let activity: Activity = IDLE;
  /** Set while this tab runs a turn. */
  let running: AbortController | null = null;
  let current: SessionView | null = null;
  let closed = false;
  let tasks: Promise<void> = Promise.resolve();
  let awaitingOwner = false;
  /**
   * What others wrote of the draft, as it was found or from here: known from the tap on, stored or not,
   * and also where another tab has sent its own words meanwhile.
   */
  let brought: readonly ForeignText[] = [];

  const found = await store.conversations.get(id);
  if (!found) return null;
  conversation = found;
  brought = found.foreign ?? [];

  const changed = (): void => {
    current = null;
    const view = session.view();
    for (const listener of listeners) listener(view);
  };

  const reloadConversation = async (): Promise<void> => {
    const fresh = await store.conversations.get(id);
    if (!fresh) return;
    conversation = fresh;
    changed();
  };

  /** Reads what another tab wrote; while this tab runs a turn, its own parts are the newest. */
  const reload = async (): Promise<void> => {
    await reloadConversation();
    if (running) return;
    const [list, parts] = await Promise.all([store.messages.list(id), store.messages.partsOf(id)]);
    const elsewhere = await ports.locks.held(lock);
    if (running) return;
    if (elsewhere && !awaitingOwner) {
      awaitingOwner = true;
      const takeOver = async (): Promise<void> => {
        awaitingOwner = false;
        await reload();
        // Words queued here after the owner's last look.
        if (!closed && !running && activity.kind === 'idle' && waiting()) start('queue', {});
      };
      ports.locks
        .free(lock)
        .then(takeOver)
        .catch(() => undefined);
    }
    messages = list.map((message) => ({ message, parts: parts.get(message.id) ?? [] }));
    activity = elsewhere ? { kind: 'elsewhere' } : IDLE;
    changed();
  };

  const patch = async (change: Partial<Conversation>): Promise<void> => {
    const next = await store.conversations.update(id, (old) => ({ ...old, ...change }));
    if (next) conversation = next;
    changed();
  };

  /** What may leave the phone, as it is stored: what this tab has heard may be late. */
  const standing = async (): Promise<Standing> => {
    const { mode, private: kept } = (await store.conversations.get(id)) ?? conversation;
    return { mode, private: kept };
  };

  const setMessage = (message: Message, parts: readonly Part[]): void => {
    const at = messages.findIndex((view) => view.message.id === message.id);
    const view = { message, parts };
    messages = at < 0 ? [...messages, view] : messages.with(at, view);
    changed();
  };

  const addMessage = async (
    role: Message['role'],
    state: Message['state'],
    parts: readonly Part[],
    change: (old: Conversation) => Conversation = (old) => old,
  ): Promise<Message> => {
    let kept = conversation;
    const message = await store.messages.add(
      { id: crypto.randomUUID(), conversation: id, role, createdAt: ports.clock(), state },
      parts,
      (old) => (kept = change(old)),
    );
    conversation = kept;
    setMessage(message, parts);
    return message;
  };

  const userText = (view: MessageView): string =>
    view.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');

  /** What cloud models have cost today, in US dollars. */
  const spent = async (): Promise<number> => {
    return spentOn(await store.settings.get(), dayOf(ports.clock(), ports.timeZone()));
  };

  /** The words that an assistant message answers, and everything before them. */
  const before = (message: Message): { request: MessageView | undefined; past: MessageView[] } => {
    const at = messages.findIndex((view) => view.message.id === message.id);
    return { request: messages[at - 1], past: messages.slice(0, Math.max(0, at - 1)) };
  };

  /** Turns whole, as a model reads them: the person's words and what was made of them. */
  const turnsOf = (views: readonly MessageView[], maxChars: number): BrainMessage[][] => {
    const turns: BrainMessage[][] = [];
    for (const view of views)
      if (view.message.role === 'user')
        turns.push([userMessage(userText(view), view.parts, ports.resultText, maxChars)]);
      else {
        const said = pastMessages(view.parts, ports.resultText, maxChars);
        if (isUndo(view.parts)) turns.at(-1)?.push({ role: 'user', text: UNDO_WORDS });
        turns.at(-1)?.push(...said);
      }
    return turns;
  };

  const lookup = (request: string, past: readonly MessageView[]): string => {
    const last = past.findLast((view) => view.message.role === 'user');
    return request.length < SHORT_REQUEST && last ? `${request}\n${userText(last)}` : request;
  };

  /** Runs the turn of one assistant message to its end and stores how it ended. */
  const run = async (
    message: Message,
    options: SendOptions,
    signal: AbortSignal,
  ): Promise<TurnEnd> => {
    const live: Message = { ...message, state: 'running' };
    // What is stored, not what is shown: a part that found no room would leave a gap behind it.
    const stored = await store.messages.parts(message.id);
    if (message.state !== 'running') await store.messages.setState(message.id, 'running');
    setMessage(live, stored);
    const journal = createJournal(
      store.messages,
      live,
      stored,
      (parts) => setMessage(live, parts),
      async (call, parts) => {
        const answer = await store.decisions.get(call.callId);
        const now = ports.clock();
        await store.actions.append(actionOf(call, { conversation: id, parts, answer, now }));
      },
    );
    const { request, past } = before(live);
    const zone = ports.timeZone();
    const times = [...past, ...(request ? [request] : []), { message: live }];
    const settings = await store.settings.get();
    const { mode, private: kept } = await standing();
    const words = request ? userText(request) : '';
    let end: TurnEnd;
    try {
      const { runTurn } = await loop();
      end = await runTurn(
        {
          conversation: id,
          mode,
          private: kept,
          ...(conversation.summary ? { summary: conversation.summary } : {}),
          heard: together([
            heardAround(conversation),
            ...[...past, ...(request ? [request] : [])].map((view) =>
              heardIn(view.message, view.parts, ports.resultText),
            ),
          ]),
          history: (maxChars) => turnsOf(past, maxChars),
          request: words,
          attached: (maxChars) => attachedText(request?.parts ?? [], ports.resultText, maxChars),
          pictures: attachedPictures(request?.parts ?? []),
          lookup: lookup(words, past),
          now: clockLine(
            clockTime(
              times.map((view) => view.message.createdAt),
              zone,
            ),
            zone,
          ),
          limits: settings.limits,
          ...(message.source === undefined ? {} : { from: { source: message.source } }),
          ...(options.place ? { place: options.place } : {}),
        },
        {
          toolbox: ports.toolbox,
          router: ports.router,
          gate: ports.gate,
          journal,
          resultText: ports.resultText,
          clock: ports.clock,
          breathe: ports.breathe,
          onActivity: (next) => {
            activity = next;
            changed();
          },
          spent,
          standing,
          keepPrivate: () => patch({ private: true }),
          ...(ports.asked ? { asked: ports.asked } : {}),
        },
        signal,
      );
    } catch (error) {
      if (isOutOfDate(error)) throw error;
      end = 'paused';
      setMessage(live, [...journal.parts(), storageNotice(error, journal.parts())]);
    }
    const state = end === 'done' ? 'done' : end;
    await store.messages.setState(message.id, state).catch(() => undefined);
    const parts = messages.find((view) => view.message.id === message.id)?.parts ?? [];
    setMessage({ ...live, state }, parts);
    return end;
  };

  /**
   * Runs turns until none is due: that of `first` (a message to go on with, `new` for the words just
   * stored, `queue` for the oldest queued ones), then those of queued messages.
   */
  const work = async (first: Message | 'new' | 'queue', options: SendOptions): Promise<void> => {
    if (running) return;
    const controller = new AbortController();
    running = controller;
    activity = { kind: 'routing' };
    changed();
    let again = false;
    const took = await ports.locks
      .tryRun(lock, async () => {
        let next: Message | 'new' | 'queue' = first;
        let turnOptions = options;
        for (;;) {
          if (next === 'queue' && !(await dequeue())) return;
          const message: Message =
            typeof next === 'string' ? await addMessage('assistant', 'running', []) : next;
          const end = await run(message, turnOptions, controller.signal);
          await patch({ updatedAt: ports.clock() });
          again = end === 'done';
          if (!again) return;
          next = 'queue';
          turnOptions = {};
        }
      })
      .finally(() => {
        running = null;
        activity = IDLE;
        changed();
        if (closed) unsubscribe();
      });
    if (!took) await reload();
    // Words queued between the last look and the end of the run.
    else if (again && conversation.queue.length > 0) await work('queue', {});
  };

  /** Starts a run whose own failures (no room, above all) are shown, not thrown. */
  const start = (first: Message | 'new' | 'queue', options: SendOptions): void => {
    void work(first, options).catch((error: unknown) => {
      if (isOutOfDate(error)) return reload();
      const view = last();
      if (view) setMessage(view.message, [...view.parts, storageNotice(error, view.parts)]);
      return undefined;
    });
  };

  /**
   * Turns the oldest queued message into a message; false where there is none. In one write: words
   * that are taken out are a message, whatever happens next, and what is private is so from then on.
   */
  const dequeue = async (): Promise<boolean> => {
    for (;;) {
      const next = (await store.conversations.get(id))?.queue[0];
      if (next === undefined) return false;
      const { text, attached, foreign } = asWords(next);
      try {
        await addMessage('user', 'done', userParts(text, attached, foreign), (old) => {
          if (!isSame(old.queue[0], next)) throw new TakenBack();
          return { ...old, queue: old.queue.slice(1), ...keptPrivate(attached) };
        });
        return true;
      } catch (error) {
        if (!(error instanceof TakenBack)) throw error;
      }
    }
  };

  /** Has the first `turns` turns summarised, by the brain that the mode and the rules allow. */
  const writeSummary = async (turns: number, signal: AbortSignal): Promise<Trouble | null> => {
    const { summarise } = await import('./summary.ts');
    const { summary } = conversation;
    const held = await standing();
    const route = await ports.router.choose({ ...held, promptTokens: 0 });
    if (!route.ok) return { message: route.message, advice: route.advice };
    const { brain } = route;
    const settings = await store.settings.get();
    const day = dayOf(ports.clock(), ports.timeZone());
    const cost = brain.describe().place === 'cloud' ? reachedOn(settings, day) : null;
    if (cost) return cost;
    // The last look: nothing is waited for between it and the request.
    const now = await standing();
    if (now.mode !== held.mode || now.private !== held.private) return writeSummary(turns, signal);
    const said = turnsOf(messages, resultChars(brain.describe().contextTokens));
    const before = summary ? summaryMessages(summary.text) : [];
    const zone = ports.timeZone();
    const written = await summarise(
      [...before, ...said.slice(summary?.turns ?? 0, turns).flat()],
      brain,
      clockLine(ports.clock(), zone),
      signal,
    );
    if (signal.aborted) return null;
    if (!written.ok) return written.error;
    const { text, sent } = written;
    const by = brain.describe().label;
    await patch({ summary: { turns, text, by, at: ports.clock(), ...(sent ? { sent } : {}) } });
    return null;
  };

  const last = (): MessageView | undefined => messages.at(-1);

  /** Words wait to be sent, and the turn before them has its answer. */
  const waiting = (): boolean =>
    conversation.queue.length > 0 && last()?.message.state === 'done' && !unanswered();

  const unanswered = (): boolean => last()?.message.role === 'user';

  /** Takes what the person asks for one after the other, in the order of the taps. */
  const inOrder = (task: () => Promise<void>): Promise<void> => {
    const done = tasks.then(task);
    tasks = done.catch(() => undefined);
    return done;
  };

  const interrupted = (): boolean => {
    if (running || activity.kind !== 'idle') return false;
    return unanswered() || last()?.message.state === 'running' || waiting();
  };

  const openQuestions = (): Question[] => {
    const view = last();
    if (view?.message.role !== 'assistant' || view.message.state !== 'running') return [];
    return view.parts.flatMap((part) =>
      part.kind === 'call' && part.state === 'asked'
        ? [{ call: part, message: view.message.id }]
        : [],
    );
  };

  const unsubscribe = store.changes.subscribe((change) => {
    if (change.key !== id) return;
    // What cannot be read any more, as of a store that was closed, stays drawn as it was.
    if (change.topic === 'conversations') reloadConversation().catch(() => undefined);
    if (change.topic === 'messages' && change.remote) reload().catch(() => undefined);
  });

  const setActivity = (next: Activity): void => {
    activity = next;
    changed();
  };

  /** Stores the person's words, as a message or in the queue, and starts what is due. */
  const take = async (text: string, { attached = [], ...options }: SendOptions): Promise<void> => {
    // Another tab may have begun a turn of which this one has not heard yet.
    const busy = running !== null || (await ports.locks.held(lock));
    // As it is stored: a draft may have been begun in another tab.
    const stored = (await store.conversations.get(id))?.foreign ?? [];
    const sent = brought;
    const foreign = foreignPieces(text, [...stored, ...sent]);
    if (busy || conversation.queue.length > 0) {
      const plain = attached.length === 0 && foreign.length === 0;
      await store.conversations.update(id, (old) => ({
        ...old,
        draft: '',
        attached: undefined,
        foreign: undefined,
        queue: [
          ...old.queue,
          plain ? text : { text, attached, ...(foreign.length > 0 ? { foreign } : {}) },
        ],
      }));
      brought = brought.filter((it) => !sent.includes(it));
      await reload();
      if (activity.kind !== 'elsewhere') start('queue', {});
      return;
    }
    // In one write: what is sent is in the draft no more, and what is private is so from then on.
    await addMessage('user', 'done', userParts(text, attached, foreign), (old) => ({
      ...old,
      title: old.title || titleOf(text || (attached[0]?.name ?? '')),
      draft: '',
      attached: undefined,
      foreign: undefined,
      ...keptPrivate(attached),
    }));
    brought = brought.filter((it) => !sent.includes(it));
    start('new', options);
  };

  const session: Session = {
    view() {
      current ??= {
        conversation,
        messages,
        activity,
        questions: openQuestions(),
        interrupted: interrupted(),
      };
      return current;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send(text, options = {}) {
      // At work from the tap on, not only once the words are durable.
      if (activity.kind === 'idle') setActivity({ kind: 'routing' });
      return inOrder(async () => {
        try {
          await take(text, options);
        } finally {
          if (!running && activity.kind === 'routing') setActivity(IDLE);
        }
      });
    },
    async unqueue(index) {
      const wanted = conversation.queue[index];
      let taken: Queued | null = null;
      // By its words: what stood before it may have been sent, or another tab may have added some.
      const kept = await store.conversations.update(id, (old) => {
        const same = (it: Queued | undefined): boolean => isSame(it, wanted);
        const at = same(old.queue[index]) ? index : old.queue.findIndex(same);
        taken = at >= 0 ? (old.queue[at] ?? null) : null;
        if (taken === null) return undefined;
        const { text, attached, foreign } = asWords(taken);
        const theirs = united(old.foreign, textsOfPieces(text, foreign));
        const hanging = [...(old.attached ?? []), ...attached];
        return {
          ...old,
          queue: old.queue.toSpliced(at, 1),
          draft: [old.draft, text].filter(Boolean).join('\n\n'),
          ...(theirs.length > 0 ? { foreign: theirs } : {}),
          ...(hanging.length > 0 ? { attached: hanging } : {}),
        };
      });
      if (kept) conversation = kept;
      if (taken !== null) {
        const { text, foreign } = asWords(taken);
        brought = united(brought, textsOfPieces(text, foreign));
      }
      changed();
      return taken;
    },
    stop() {
      running?.abort(new DOMException('Stopped', 'AbortError'));
    },
    async resume(options = {}) {
      const view = last();
      if (running || !view) return;
      if (unanswered()) start('new', options);
      else if (waiting()) start('queue', options);
      else if (view.message.state !== 'done') start(view.message, options);
    },
    async answer(callId, answer) {
      const question = openQuestions().find(({ call }) => call.callId === callId);
      if (!question) return false;
      const { server, tool, pin, args } = question.call;
      try {
        return await ports.gate.decide(
          { callId, conversation: id, server, tool, pin, args },
          answer,
        );
      } finally {
        // Also where the answer stands and only its grant found no room.
        if (!running && !(await ports.locks.held(lock))) await session.resume();
      }
    },
    setMode: (mode) => patch({ mode }),
    async setDraft(draft, foreign = []) {
      brought = [...brought, ...foreign];
      const known = brought;
      const next = await store.conversations.update(id, (old) => ({
        ...old,
        draft,
        ...(known.length > 0 ? { foreign: united(old.foreign, known) } : {}),
      }));
      if (next) conversation = next;
      changed();
    },
    setAttached: (attached) => patch({ attached: attached.length > 0 ? attached : undefined }),
    rename: (title) => patch({ title: title.trim().slice(0, TITLE_LENGTH) }),
    async undo(callId) {
      if (activity.kind === 'idle') setActivity({ kind: 'routing' });
      const { addUndo, BUSY } = await import('./undo-turn.ts').catch((cause: unknown) => {
        if (!running && activity.kind === 'routing') setActivity(IDLE);
        throw cause;
      });
      let made: Message | Trouble = BUSY;
      await inOrder(async () => {
        try {
          if (running) return;
          await ports.locks.tryRun(lock, async () => {
            made = await addUndo({ id, ...ports, setMessage, addMessage }, callId);
          });
        } finally {
          if (!('id' in made) && !running) await reload();
        }
        if ('id' in made) start(made, {});
      });
      return 'id' in made ? null : made;
    },
    regenerate(options = {}) {
      return inOrder(async () => {
        const view = last();
        if (running || view?.message.role !== 'assistant' || isUndo(view.parts)) return;
        // What another tab is at work on is not dropped under its hands.
        if (await ports.locks.held(lock)) return reload();
        await store.messages.truncate(id, view.message.seq);
        messages = messages.slice(0, -1);
        changed();
        start('new', options);
      });
    },
    async summarise() {
      const view = last();
      const dropped = view ? leftOut(view.parts) : 0;
      if (running || dropped <= (conversation.summary?.turns ?? 0)) return null;
      const queued = conversation.queue.length;
      const controller = new AbortController();
      running = controller;
      setActivity({ kind: 'summarising' });
      let trouble: Trouble | null = null;
      const took = await ports.locks
        .tryRun(lock, async () => {
          trouble = await writeSummary(dropped, controller.signal);
        })
        .finally(() => {
          running = null;
          setActivity(IDLE);
          if (closed) unsubscribe();
        });
      if (!took) await reload();
      // Words that came in meanwhile; behind a turn that was stopped, too, as without a summary.
      else if (waiting() || conversation.queue.length > queued) start('queue', {});
      return trouble;
    },
    forgetSummary: () => patch({ summary: undefined }),
    close() {
      closed = true;
      listeners.clear();
      if (!running) unsubscribe();
    },
  };

  await reload();
  return session;
}

function userParts(
  text: string,
  attached: readonly AttachmentPart[],
  foreign: readonly ForeignPiece[],
): Part[] {
  const words = {
    kind: 'text',
    step: 0,
    text,
    ...(foreign.length > 0 ? { foreign } : {}),
  } as const;
  return [words, ...attached];
}

/** The rule that a private server's text puts in force. */
const keptPrivate = (attached: readonly AttachmentPart[]): Partial<Conversation> =>
  attached.some((part) => part.private) ? { private: true } : {};

/** The person took the oldest queued message back, in any tab, just before it was sent. */
class TakenBack extends Error {}

const asWords = (queued: Queued) =>
  typeof queued === 'string'
    ? { text: queued, attached: [], foreign: [] }
    : { foreign: [], ...queued };

/** Texts of others, each once. */
const united = (
  before: readonly ForeignText[] = [],
  more: readonly ForeignText[],
): readonly ForeignText[] => [
  ...before,
  ...more.filter(
    ({ source, text }) => !before.some((it) => it.source === source && it.text === text),
  ),
];

/** Two queued messages are one where their words are, and what hangs on them was read at one time. */
function isSame(a: Queued | undefined, b: Queued | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  return a.text === b.text && a.attached.every((part, at) => part.at === b.attached[at]?.at);
}

/** How many of the oldest turns the newest step of a message was not shown. */
function leftOut(parts: readonly Part[]): number {
  const route = parts.findLast((part) => part.kind === 'route');
  return route?.context?.dropped ?? 0;
}

/** Another tab took the turn over, or deleted the conversation. */
function isOutOfDate(error: unknown): boolean {
  return (
    error instanceof TakenOver ||
    (error instanceof Error && 'kind' in error && error.kind === 'gone')
  );
}

function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  if (line.length <= TITLE_LENGTH) return line;
  const cut = line.slice(0, TITLE_LENGTH);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), 20))}…`;
}

/** Shown, not stored: the store itself is what failed. */
function storageNotice(error: unknown, parts: readonly Part[]): NoticePart {
  const full = error instanceof Error && error.name === 'QuotaError';
  return {
    kind: 'notice',
    step: parts.at(-1)?.step ?? 1,
    code: full ? 'storage-full' : 'internal',
    text: full
      ? 'This phone has no room left for Deft, so the rest of this answer was not stored.'
      : 'Something in Deft failed, so this turn stopped.',
    advice: full
      ? 'Delete a model or old conversations, then continue.'
      : 'Try again. If it keeps happening, reload the app.',
    action: full ? 'models' : 'retry',
    ...(error instanceof Error ? { detail: `${error.name}: ${error.message}` } : {}),
  };
}
