/**
 * Decides and runs the calls of a step. Each call moves through its states durably: proposed, asked,
 * allowed, running, done. `running` is written before anything is sent and only once, so a call runs
 * at most once whatever dies in between.
 */
import type { BoundCall, CallWatch, Tool } from '../mcp/types.ts';
import type { GateContext } from '../policy/types.ts';
import type { CallPart, Outcome, Part } from '../store/records.ts';
import { heardIn, together } from './heard.ts';
import { TakenOver } from './journal.ts';
import type { Run } from './run.ts';
import { isSettled } from './undo.ts';

/** Indices of the calls of closed steps that are not settled, in order. */
export function openCalls(parts: readonly Part[]): number[] {
  const closed = new Set(
    parts
      .filter((part) => part.kind === 'step' && (part.end === 'calls' || part.end === 'length'))
      .map((part) => part.step),
  );
  return parts.flatMap((part, index) =>
    part.kind === 'call' && closed.has(part.step) && !isSettled(part) ? [index] : [],
  );
}

/**
 * Settles every open call: side by side when all are read-only, else in order. Resolves with true
 * where a private server's result came in.
 */
export async function settle(run: Run): Promise<boolean> {
  const indices = openCalls(run.ports.journal.parts());
  const readOnly = indices.every((index) => callAt(run, index).readOnly);
  if (readOnly) {
    const results = await Promise.all(indices.map((index) => settleOne(run, index)));
    return results.some(Boolean);
  }
  let keptPrivate = false;
  for (const index of indices) {
    if (run.signal.aborted) break;
    keptPrivate = (await settleOne(run, index)) || keptPrivate;
  }
  return keptPrivate;
}

/** Refuses every open call that has not been sent, with a reason that the model reads. */
export async function refuseOpen(run: Run, why: string): Promise<void> {
  const { journal } = run.ports;
  for (const index of openCalls(journal.parts())) {
    const part = callAt(run, index);
    if (part.state !== 'running') await journal.replace(index, { ...part, state: 'refused', why });
  }
}

/**
 * Refuses calls of steps that never closed (a killed tab, a stop, a failed stream): the model is
 * asked again, so what it half asked for may not linger as if it were waiting.
 */
export async function dropCut(run: Run): Promise<void> {
  const { journal } = run.ports;
  const parts = journal.parts();
  const open = new Set(openCalls(parts));
  for (const [index, part] of parts.entries())
    if (part.kind === 'call' && part.state === 'proposed' && !open.has(index))
      await journal.replace(index, {
        ...part,
        state: 'refused',
        why: 'Cut off before it was decided; nothing ran.',
      });
}

function callAt(run: Run, index: number): CallPart {
  const part = run.ports.journal.parts()[index];
  if (part?.kind !== 'call') throw new TypeError(`part ${index} is not a call`);
  return part;
}

async function settleOne(run: Run, index: number): Promise<boolean> {
  const { journal, toolbox, clock } = run.ports;
  const part = callAt(run, index);
  const tool = await toolbox.find(part.server, part.tool, part.pin);

  if (part.state === 'running') {
    // Found running at a restart: it was sent by a turn that died before the answer was stored.
    const sent = tool && { callId: part.callId, tool, args: part.args, days: part.days };
    if (sent && part.task !== undefined) return execute(run, index, sent, part.task);
    // One that only reads is sent again, if it may still run unasked; a write never is.
    if (sent?.tool.readOnly) {
      const { verdict } = await run.ports.gate.judge(sent, await contextOf(run));
      if (verdict === 'run') return execute(run, index, sent);
    }
    await journal.replace(index, {
      ...part,
      state: 'done',
      endedAt: clock(),
      outcome: {
        kind: 'unknown',
        message: `Outcome unknown: Deft was closed while ${part.serverName} was working on this.`,
        advice: 'Check with the service before you ask for it again.',
      },
    });
    return false;
  }
  if (!tool) {
    await refuseChanged(run, index);
    return false;
  }
  const call: BoundCall = { callId: part.callId, tool, args: part.args, days: part.days };
  if (!(await allowed(run, index, call))) return false;
  if (run.signal.aborted) return false;
  // The definition may have changed while the question waited: the yes was for the one shown.
  if (!(await toolbox.find(part.server, part.tool, part.pin))) {
    await refuseChanged(run, index);
    return false;
  }
  if (!(await journal.claim(index, clock()))) throw new TakenOver();
  return execute(run, index, call);
}

function refuseChanged(run: Run, index: number): Promise<void> {
  const part = callAt(run, index);
  return run.ports.journal.replace(index, {
    ...part,
    state: 'refused',
    why: `The tool ${part.title} of ${part.serverName} has changed or is gone.`,
  });
}

/** What the gate judges by: everything that was said and heard up to now. */
async function contextOf(run: Run): Promise<GateContext> {
  const { journal, resultText } = run.ports;
  const turn = heardIn({ role: 'assistant', ...run.input.from }, journal.parts(), resultText);
  const { said, untrusted, offered, pictures = [] } = together([run.input.heard, turn]);
  const { conversation } = run.input;
  return { conversation, said, untrusted, offered: await offeredTools(run, offered), pictures };
}

/** No bound: every tool that is on. */
const ALL = { maxTools: Infinity, maxTokens: Infinity, cost: () => 0 } as const;

/** The tools behind names that a model was offered: as this run offered them, others as they are listed. */
async function offeredTools(run: Run, names: readonly string[]): Promise<Tool[]> {
  const tools = [...run.offers.values()].flatMap((offer) => offer.tools);
  const known = new Set(tools.map(({ modelName }) => modelName));
  const others = new Set(names.filter((name) => !known.has(name)));
  if (others.size > 0) {
    run.listed ??= run.ports.toolbox.offer('', ALL).then((offer) => offer.tools);
    tools.push(...(await run.listed).filter(({ modelName }) => others.has(modelName)));
  }
  return [...new Set(tools)];
}

/** Brings a call to `allowed`; false where it was denied or refused, or the turn was stopped. */
async function allowed(run: Run, index: number, call: BoundCall): Promise<boolean> {
  const { journal, gate } = run.ports;
  const judge = async () => gate.judge(call, await contextOf(run));
  // One that was allowed before a restart is judged anew: a yes of the person is still there, and
  // what ran by a rule runs only if the rule still holds.
  if (callAt(run, index).state !== 'asked') {
    const { verdict, why, origins, consequential } = await judge();
    const state = { run: 'allowed', ask: 'asked', refuse: 'refused' } as const;
    await journal.replace(index, {
      ...callAt(run, index),
      state: state[verdict],
      why,
      ...(origins ? { origins } : {}),
      ...(consequential ? { consequential } : {}),
    });
  }
  if (callAt(run, index).state === 'asked') {
    run.ports.onActivity({ kind: 'asking', callId: call.callId });
    const { conversation } = run.input;
    const answer = await run.stopwatch
      .paused(() => gate.answer({ callId: call.callId, conversation }, run.signal))
      .catch((error: unknown) => {
        if (run.signal.aborted) return null;
        throw error;
      });
    if (!answer) return false;
    // A rule made meanwhile that says never outlives a yes that was on its way.
    const after = answer.allow ? await judge() : null;
    const refused = after?.verdict === 'refuse' ? after.why : null;
    await journal.replace(index, {
      ...callAt(run, index),
      state: refused ? 'refused' : answer.allow ? 'allowed' : 'denied',
      ...(refused ? { why: refused } : {}),
      ...(answer.reason ? { reason: answer.reason } : {}),
    });
  }
  return callAt(run, index).state === 'allowed';
}

/** Makes the call, or goes on waiting for the task that its server made of it. */
async function execute(run: Run, index: number, call: BoundCall, task?: string): Promise<boolean> {
  const { journal, toolbox, clock, onActivity, keepPrivate } = run.ports;
  const { callId } = call;
  const tell = () => onActivity({ kind: 'calling', callId, progress: run.progress });
  tell();
  let noting = Promise.resolve();
  const watch: CallWatch = {
    progress: (progress) => {
      run.progress = { ...run.progress, [callId]: progress };
      tell();
    },
    // Durable at once: with it the call survives the page.
    task: (id) => {
      noting = noting.then(() => journal.replace(index, { ...callAt(run, index), task: id }));
      noting.catch(() => undefined);
    },
  };
  const outcome: Outcome = await (task === undefined
    ? toolbox.call(call, run.signal, watch)
    : toolbox.resume(call, task, run.signal, watch));
  await noting;
  const asked = run.ports.asked?.(call.tool.server) ?? [];
  // The clock stops while a person is asked.
  for (const { ms } of asked) run.stopwatch.leaveOut(ms);
  // The rule is in force before the result can be read by anybody.
  if (call.tool.private) await keepPrivate();
  await journal.replace(index, {
    ...callAt(run, index),
    state: 'done',
    endedAt: clock(),
    outcome,
    ...(asked.length > 0 ? { asked } : {}),
  });
  return call.tool.private;
}
