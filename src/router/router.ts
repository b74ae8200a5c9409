/**
 * Chooses the brain of a step by hard rules, in this order: the place that the person chose for this
 * turn, the mode of the conversation, the network, privacy, the context window, the key, the model.
 *
 * A message with pictures goes to who can see them, where these rules allow it.
 *
 * Promises: with the same answers from its ports it always chooses the same; Phone only never leaves
 * the phone; Auto never sends a private conversation to the cloud, and neither does Cloud only
 * unless the person sends that turn there; every choice, and every refusal, has its sentence.
 */
import type { Brain, BrainErrorKind, Place } from '../brain/brain.ts';
import type { Route, RouteContext, Router } from './types.ts';

export interface RouterPorts {
  /** The chosen model on this phone; null where none is stored. */
  readonly phone: () => Promise<Brain | null>;
  /** The chosen account's model; null where there is no account or no key. */
  readonly cloud: () => Promise<Brain | null>;
  readonly online: () => boolean;
}

/** Tokens of the window that are kept for the answer. */
const ANSWER_ROOM = 256;

type Refusal = Extract<Route, { ok: false }>;

/** A brain that can take the step, or why none there can. */
type Seat = { readonly ok: true; readonly brain: Brain } | Refusal;

export function createRouter(ports: RouterPorts): Router {
  const phoneSeat = async (context: RouteContext): Promise<Seat> => {
    const brain = await ports.phone();
    if (!brain)
      return refusal(
        'no-model',
        'There is no model on this phone.',
        'Download one, or let the cloud take this turn.',
      );
    return fitting(brain, context, 'Start a new conversation, or let the cloud take this turn.');
  };

  const cloudSeat = async (context: RouteContext): Promise<Seat> => {
    if (!ports.online())
      return refusal(
        'offline',
        'There is no network, so the cloud cannot be reached.',
        'Go online, or let the phone take this turn.',
      );
    if (context.private && context.forced !== 'cloud')
      return refusal(
        'private',
        'This conversation holds results of a private server, so it stays on this phone.',
        'Let the phone take this turn, or send this one turn to the cloud yourself.',
      );
    const brain = await ports.cloud();
    if (!brain)
      return refusal(
        'no-key',
        'There is no cloud key.',
        'Add a key or sign in, or let the phone take this turn.',
      );
    return fitting(
      brain,
      context,
      'Start a new conversation, or choose a cloud model with a larger window.',
    );
  };

  return {
    async choose(context) {
      const { forced, mode, after } = context;
      const only: Place | undefined = forced ?? (mode === 'auto' ? undefined : mode);
      if (only) {
        const rule = forced ? 'forced' : 'mode';
        if (after?.place === only) return noHandover(context, rule);
        const seat = await (only === 'phone' ? phoneSeat : cloudSeat)(context);
        return seat.ok
          ? {
              ok: true,
              brain: seat.brain,
              rule,
              reason: REASONS[rule][only],
              ...blind(seat, context),
            }
          : seat;
      }
      if (after?.place === 'cloud') return noHandover(context, 'auto');
      if (after) {
        const why = failureOf(after.why, after.kind);
        const cloud = await cloudSeat(context);
        if (!cloud.ok)
          return refusal(
            cloud.code,
            `${why} ${cloud.message}`,
            AFTER_FAILURE[cloud.code] ?? cloud.advice,
          );
        return {
          ok: true,
          brain: cloud.brain,
          rule: after.why,
          reason: `${why} So the cloud takes this step.`,
          ...blind(cloud, context),
        };
      }
      const phone = await phoneSeat(context);
      if (phone.ok && (!context.pictures || sees(phone.brain)))
        return { ok: true, brain: phone.brain, rule: 'auto', reason: PHONE_FIRST };
      if (phone.ok) {
        const cloud = await cloudSeat(context);
        if (cloud.ok && sees(cloud.brain))
          return {
            ok: true,
            brain: cloud.brain,
            rule: 'images',
            reason: `Your message has ${some(context)}, which the phone’s model cannot see. So the cloud takes this step.`,
          };
        return {
          ok: true,
          brain: phone.brain,
          rule: 'auto',
          reason: PHONE_FIRST,
          ...blind(phone, context, cloud),
        };
      }
      const cloud = await cloudSeat(context);
      if (!cloud.ok) return neither(phone, cloud);
      return {
        ok: true,
        brain: cloud.brain,
        rule: phone.code,
        reason: `${phone.message} So the cloud takes this step.`,
        ...blind(cloud, context),
      };
    },
  };
}

const PHONE_FIRST = 'Auto asks the phone’s own model first.';

const sees = (brain: Brain): boolean => brain.describe().can.images;

const some = ({ pictures }: RouteContext): string =>
  pictures === 1 ? 'a picture' : `${pictures} pictures`;

/** What to do where Auto may not, or cannot, show a picture to the cloud. */
const SHOW_IT: Partial<Record<Refusal['code'], string>> = {
  offline:
    'It stays with your message: send it again when you are online, or describe it in words.',
  private:
    'This conversation stays on this phone, for it holds results of a private server. Describe it in words, or start a new conversation for it.',
  'no-key': 'Add a cloud model that can see pictures, or describe it in words.',
};

/**
 * The notice of a brain that cannot see the pictures of the message; none where it can, or there are
 * none. `other`: what became of asking the cloud instead.
 */
function blind(
  { brain }: Extract<Seat, { ok: true }>,
  context: RouteContext,
  other?: Seat,
): Pick<Extract<Route, { ok: true }>, 'notice'> {
  if (!context.pictures || sees(brain)) return {};
  const { label, place } = brain.describe();
  const told = context.pictures === 1 ? 'there is one' : `there are ${context.pictures}`;
  const text = `${label} cannot see pictures. It is told only that ${told} in your message.`;
  const blindCloud =
    'Choose a cloud model that can see, or say under Cloud models that this one can.';
  const advice =
    place === 'cloud' || other?.ok
      ? blindCloud
      : other
        ? (SHOW_IT[other.code] ?? other.advice)
        : 'Send this turn to a cloud model that can see pictures, or describe it in words.';
  return { notice: { text, advice } };
}

const REASONS = {
  forced: { phone: 'You sent this turn to the phone.', cloud: 'You sent this turn to the cloud.' },
  mode: {
    phone: 'Phone is chosen: nothing leaves this phone.',
    cloud: 'Cloud is chosen for this conversation.',
  },
} as const;

const PLACES = { phone: 'phone’s', cloud: 'cloud’s' } as const;

function refusal(code: Refusal['code'], message: string, advice: string): Refusal {
  return { ok: false, code, message, advice };
}

function fitting(brain: Brain, { promptTokens }: RouteContext, advice: string): Seat {
  const { contextTokens, label } = brain.describe();
  if (promptTokens + ANSWER_ROOM <= contextTokens) return { ok: true, brain };
  return refusal(
    'window',
    `This conversation is too long for ${label}: about ${promptTokens} tokens, and ${contextTokens} fit.`,
    advice,
  );
}

/** What the phone's model did wrong, as a sentence. */
function failureOf(
  why: NonNullable<RouteContext['after']>['why'],
  kind: BrainErrorKind | undefined,
  place: Place = 'phone',
): string {
  const model = `The ${PLACES[place]} model`;
  if (why === 'bad-call') return `${model} did not get a tool call right.`;
  if (why === 'repeat') return `${model} went round in circles.`;
  switch (kind) {
    case 'context':
      return `This is too long for the ${PLACES[place]} model.`;
    case 'memory':
      return `${model} ran out of memory.`;
    case 'gpu':
      return `${model} lost the graphics chip.`;
    case 'stalled':
      return `${model} stood still.`;
    case 'refused':
      return `${model} would not answer.`;
    default:
      return `${model} failed.`;
  }
}

/** The step failed where it had to run, or in the cloud, behind which there is nobody. */
function noHandover(context: RouteContext, rule: 'forced' | 'mode' | 'auto'): Refusal {
  const { place, why, kind } = context.after!;
  const failed = failureOf(why, kind, place);
  if (place === 'cloud')
    return refusal(
      'no-handover',
      failed,
      'Try again, choose another cloud model, or send this turn to the phone.',
    );
  return refusal(
    'no-handover',
    rule === 'forced'
      ? `${failed} You sent this turn to the phone, so it is not handed over.`
      : `${failed} Phone is chosen, so it is not handed over.`,
    'Try again in other words, or send this turn to the cloud.',
  );
}

/** What to do where the phone failed and the cloud cannot be asked. */
const AFTER_FAILURE: Partial<Record<Refusal['code'], string>> = {
  offline: 'Say it in other words, or try again when you are online.',
  private: 'Say it in other words, or send this one turn to the cloud yourself.',
  'no-key': 'Say it in other words, or add a cloud key.',
};

/** Auto found nobody. What can be done about the phone comes first, for it works without a network. */
function neither(phone: Refusal, cloud: Refusal): Refusal {
  const message = `${phone.message} ${cloud.message}`;
  if (phone.code === 'window') {
    const advice: Partial<Record<Refusal['code'], string>> = {
      offline: 'Start a new conversation, or go online.',
      private: 'Start a new conversation, or send this one turn to the cloud yourself.',
      'no-key': 'Start a new conversation, or add a cloud key.',
    };
    return refusal('window', message, advice[cloud.code] ?? 'Start a new conversation.');
  }
  const advice: Partial<Record<Refusal['code'], string>> = {
    offline: 'Go online; then the cloud can answer, or a model be downloaded.',
    private: 'Download a model, or send this one turn to the cloud yourself.',
    'no-key': 'Download a model, or add a cloud key.',
    window: 'Start a new conversation, or choose a cloud model with a larger window.',
  };
  const code = cloud.code === 'no-key' ? 'no-model' : cloud.code;
  return refusal(code, message, advice[cloud.code] ?? cloud.advice);
}
