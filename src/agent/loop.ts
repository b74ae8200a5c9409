/**
 * The loop that makes a model an agent: discover, describe, ask, decide, execute, observe, repeat,
 * respond. Pure: the brain, the toolbox, the gate and the journal are handed in; there is no DOM, no
 * network and no storage here. All its state is the journal, so a turn that was cut off anywhere is
 * run again from its journal and goes on where it was.
 */
import type { Brain, HeadTokens, ToolSpec } from '../brain/brain.ts';
import type { Tool } from '../mcp/types.ts';
import type { Route, RouteContext } from '../router/types.ts';
import type { NoticePart, Part } from '../store/records.ts';
import { dropCut, openCalls, refuseOpen, settle } from './calls.ts';
import { answerTokens, fit } from './context.ts';
import { reachedCost } from './day-cost.ts';
import { countCalls, createStopwatch, reachedLimit } from './limits.ts';
import { brainNotice, routeNotice } from './notices.ts';
import { newestPictures, picturesFrom } from './shown.ts';
import { SYSTEM } from './prompt.ts';
import type { Offered, Ports, Run, Standing, TurnInput } from './run.ts';
import { runStep, type StepEnd } from './step.ts';
import { turnMessages, withAttached } from './transcript.ts';

/** done: answered · stopped: by the person · paused: a limit or an error; the last notice says which. */
export type TurnEnd = 'done' | 'stopped' | 'paused';

/** Offers a model no more tools than a third of its window holds. */
const TOOL_SHARE = 0.33;

/** Runs a turn, or goes on with one, until it ends. Rejects only where the journal cannot be written. */
export async function runTurn(
  input: TurnInput,
  ports: Ports,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const { journal } = ports;
  const run: Run = {
    input,
    ports,
    signal,
    begin: journal.parts().length,
    stopwatch: createStopwatch(ports.clock),
    offers: new Map(),
    listed: null,
    chosen: null,
    progress: {},
    private: input.private,
    granted: null,
    after: undefined,
  };
  await dropCut(run);
  for (;;) {
    if (signal.aborted) return 'stopped';

    // Decide, execute, observe: whatever the model asked for and is not settled yet.
    if (openCalls(journal.parts()).length > 0) {
      if (await settle(run)) run.private = true;
      continue;
    }

    // Respond: the last step asked for nothing.
    if (answered(journal.parts())) return 'done';

    // Repeat, within limits.
    const limit = reachedLimit(journal.parts().slice(run.begin), input.limits, elapsed(run));
    if (limit)
      return pause(run, {
        code: limit.code,
        text: limit.text,
        advice: 'Continue if you want me to go on.',
        action: 'continue',
      });

    // Discover, describe, ask.
    const route = await chooseBrain(run);
    if (!route.ok) return pause(run, routeNotice(route));
    if (route.notice) await note(run, route.notice);
    const cost = await costLimit(run, route.brain);
    if (cost)
      return pause(run, {
        code: 'limit-cost',
        text: cost,
        advice: 'Continue if it may cost as much again, or use the model on this phone.',
        action: 'continue',
      });
    const end = await ask(run, route);
    const verdict = await judgeEnd(run, route.brain, end);
    if (verdict) return verdict;
  }
}

/** The day's limit on what cloud models cost, where this brain would go beyond it. */
async function costLimit(run: Run, brain: Brain): Promise<string | null> {
  const { journal } = run.ports;
  if (!run.ports.spent || brain.describe().place !== 'cloud') return null;
  const spent = await run.ports.spent();
  const last = journal.parts()[run.begin - 1];
  run.granted ??= last?.kind === 'notice' && last.code === 'limit-cost' ? spent : 0;
  return reachedCost(run.input.limits, spent, run.granted);
}

const elapsed = (run: Run): number => run.stopwatch.elapsed();

function nextStep(parts: readonly Part[]): number {
  return parts.reduce((last, part) => Math.max(last, part.step), 0) + 1;
}

/** True where the newest step ended with an answer instead of calls. */
function answered(parts: readonly Part[]): boolean {
  const last = parts.findLast((part) => part.kind === 'step' || part.kind === 'route');
  if (last?.kind !== 'step' || last.end !== 'stop') return false;
  return !parts.some(
    (part) => part.step === last.step && (part.kind === 'call' || part.kind === 'badcall'),
  );
}

/** True where the newest step came to its greatest length before its first word: it would do so again. */
function thoughtTooLong(parts: readonly Part[]): boolean {
  const last = parts.findLast((part) => part.kind === 'step');
  if (last?.end !== 'length') return false;
  const own = parts.filter((part) => part.step === last.step);
  return !own.some(({ kind }) => kind === 'text' || kind === 'call' || kind === 'badcall');
}

/** Tells the person once a turn what they may not expect of it. */
async function note(run: Run, { text, advice }: { text: string; advice: string }): Promise<void> {
  const { journal } = run.ports;
  const parts = journal.parts();
  if (parts.some((part) => part.kind === 'notice' && part.text === text)) return;
  const code = 'pictures-unseen';
  await journal.append({ kind: 'notice', step: nextStep(parts), code, text, advice });
}

async function pause(run: Run, notice: Omit<NoticePart, 'kind' | 'step'>): Promise<TurnEnd> {
  const { journal } = run.ports;
  const step = nextStep(journal.parts()) - 1;
  await journal.append({ kind: 'notice', step, ...notice });
  return 'paused';
}

/** What may leave the phone by now; private is never taken back within a run. */
async function standingOf(run: Run): Promise<Standing> {
  const { mode, private: kept } = (await run.ports.standing?.()) ?? run.input;
  run.private ||= kept;
  return { mode, private: run.private };
}

async function chooseBrain(run: Run): Promise<Route> {
  run.ports.onActivity({ kind: 'routing' });
  const standing = await standingOf(run);
  const words = run.input.request.length;
  // The person sent the turn to the cloud before a private result came in: that yes was for less.
  const { place } = run.input;
  const forced = place === 'cloud' && run.private && !run.input.private ? undefined : place;
  run.chosen = standing;
  return run.ports.router.choose({
    ...standing,
    promptTokens: Math.ceil(words / 3),
    ...(run.input.pictures?.length ? { pictures: run.input.pictures.length } : {}),
    ...(forced ? { forced } : {}),
    ...(run.after ? { after: run.after } : {}),
  });
}

/** Whether what may leave the phone has changed since a brain was chosen. */
async function hasMoved(run: Run): Promise<boolean> {
  const { chosen } = run;
  const now = await standingOf(run);
  return chosen !== null && (now.mode !== chosen.mode || now.private !== chosen.private);
}

/** The tools for this turn and this brain, from the stored lists: no request is made. */
async function offerTools(run: Run, brain: Brain): Promise<Offered> {
  const info = brain.describe();
  const known = run.offers.get(info.id);
  if (known) return known;
  const offer: Offered = info.can.tools
    ? await run.ports.toolbox.offer(run.input.lookup, {
        maxTools: info.maxTools,
        maxTokens: Math.floor(info.contextTokens * TOOL_SHARE),
        cost: (tool) => headTokens(brain, run.input.now, [tool]).tools,
      })
    : { tools: [] };
  run.offers.set(info.id, offer);
  return offer;
}

const toolSpec = (tool: Tool): ToolSpec => ({
  name: tool.modelName,
  description: tool.description,
  inputSchema: tool.inputSchema,
});

/** What a request takes before any message, as this brain writes it. */
function headTokens(brain: Brain, now: string, tools: readonly Tool[]): HeadTokens {
  const specs = tools.map(toolSpec);
  if (brain.headTokens) return brain.headTokens({ system: SYSTEM, now, tools: specs });
  return {
    system: brain.countTokens(SYSTEM + now),
    tools: specs.length === 0 ? 0 : brain.countTokens(JSON.stringify(specs)),
  };
}

async function ask(run: Run, route: Extract<Route, { ok: true }>): Promise<StepEnd> {
  const { input, ports } = run;
  const { brain } = route;
  const info = brain.describe();
  const { tools, match } = await offerTools(run, brain);
  const step = nextStep(ports.journal.parts());
  const prompt = fit(
    (bound) => {
      const attached = input.attached?.(bound) ?? '';
      const words = {
        role: 'user',
        text: withAttached(input.request, attached),
        ...(input.pictures?.length ? { images: input.pictures } : {}),
      } as const;
      const turns = [
        ...input.history(bound),
        [words, ...turnMessages(ports.journal.parts(), ports.resultText, bound)],
      ];
      const shown = info.can.images ? newestPictures(turns) : turns;
      return {
        ...(input.summary ? { summary: input.summary } : {}),
        history: shown.slice(0, -1),
        attached,
        current: shown.at(-1) ?? [],
      };
    },
    headTokens(brain, input.now, tools),
    brain,
  );
  const pictures = info.can.images ? picturesFrom(prompt.messages) : [];
  await ports.journal.append({
    kind: 'route',
    step,
    place: info.place,
    brain: info.id,
    label: info.label,
    rule: route.rule,
    reason: route.reason,
    offered: tools.map((tool) => tool.modelName),
    context: prompt.use,
    ...(pictures.length > 0 ? { pictures } : {}),
  });
  // The last look before it leaves the phone: a brain was chosen for what held then.
  if (info.place === 'cloud' && (await hasMoved(run))) {
    await ports.journal.append({ kind: 'step', step, end: 'aborted', usage: {} });
    return { reason: 'aborted', calls: 0, bad: 0 };
  }
  if (!prompt.fits)
    return {
      reason: 'error',
      calls: 0,
      bad: 0,
      error: {
        kind: 'context',
        message: `This is too long for ${info.label}.`,
        advice: 'Send a shorter message, or use a model with a larger window.',
      },
    };
  return runStep({
    brain,
    step,
    tools,
    stopped: () => elapsed(run) >= input.limits.ms,
    ports,
    signal: run.signal,
    request: {
      system: SYSTEM,
      now: input.now,
      messages: prompt.messages,
      tools: tools.map(toolSpec),
      toolChoice: 'auto',
      // Of a follow-up, which was looked up with the words before it, it would say nothing.
      ...(match !== undefined && step === 1 && input.lookup === input.request ? { match } : {}),
      ...(thoughtTooLong(ports.journal.parts()) ? { think: false } : {}),
      maxTokens: answerTokens(info.contextTokens),
    },
  });
}

/** What the end of a step means for the turn; null: go on. */
async function judgeEnd(run: Run, brain: Brain, end: StepEnd): Promise<TurnEnd | null> {
  const { journal } = run.ports;
  const place = brain.describe().place;
  if (end.reason === 'aborted') return run.signal.aborted ? 'stopped' : null;
  if (end.reason === 'length')
    return pause(run, {
      code: 'limit-length',
      text: 'The answer was cut at its greatest length.',
      advice: 'Continue to read on.',
      action: 'continue',
    });

  if (end.reason === 'error') {
    const after = { place, why: 'error', kind: end.error.kind } as const;
    return handOver(run, brain, after, brainNotice(end.error, place));
  }
  if (end.bad > 0) {
    // It goes back once with the error; a second bad step in a row is handed over.
    if (!secondBadStep(journal.parts())) return null;
    return handOver(
      run,
      brain,
      { place, why: 'bad-call' },
      {
        code: 'bad-call',
        text: 'The model could not say which tool to use, and how.',
        advice: 'Say it in other words, or send this turn to another model.',
        action: 'retry',
      },
    );
  }
  const parts = journal.parts().slice(run.begin);
  // More than the limit in one step: none of them runs before the person says so.
  if (countCalls(parts) > run.input.limits.calls)
    return pause(run, {
      code: 'limit-calls',
      text: `The model asked for more than ${run.input.limits.calls} tool calls, so I stopped.`,
      advice: 'Continue if you want me to make them.',
      action: 'continue',
    });
  const limit = reachedLimit(parts, run.input.limits, elapsed(run));
  if (limit?.code === 'limit-equal')
    return handOver(
      run,
      brain,
      { place, why: 'repeat' },
      {
        code: limit.code,
        text: limit.text,
        advice: 'Continue if it should make it once more.',
        action: 'continue',
      },
    );
  if (end.reason === 'stop' && end.looped)
    await journal.append({
      kind: 'notice',
      step: nextStep(journal.parts()) - 1,
      code: 'looped',
      text: 'The answer began to repeat itself, so it was ended here.',
      advice: 'Ask in other words, or let another model answer.',
    });
  return null;
}

function secondBadStep(parts: readonly Part[]): boolean {
  const bad = [...new Set(parts.filter((part) => part.kind === 'badcall').map(({ step }) => step))];
  const [last, before] = [bad.at(-1), bad.at(-2)];
  if (last === undefined || before === undefined) return false;
  // Cut and failed steps in between do not break the row.
  return !parts.some((part) => part.kind === 'call' && part.step > before && part.state === 'done');
}

/**
 * Lets the router pick another brain after a failure, for the rest of this run; where there is none,
 * says so and pauses.
 */
async function handOver(
  run: Run,
  brain: Brain,
  after: NonNullable<RouteContext['after']>,
  notice: Omit<NoticePart, 'kind' | 'step'>,
): Promise<TurnEnd | null> {
  run.after = after;
  const next = await chooseBrain(run);
  if (next.ok && next.brain.describe().id !== brain.describe().id) {
    await refuseOpen(run, 'Another model takes over from here.');
    return null;
  }
  run.after = undefined;
  return pause(run, notice);
}
