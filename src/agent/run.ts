/** What one run of a turn is given, and what it carries from step to step. */
import type { BrainImage, BrainMessage } from '../brain/brain.ts';
import type { CallProgress, Offer, Tool, Toolbox } from '../mcp/types.ts';
import type { Gate } from '../policy/types.ts';
import type { RouteContext, Router } from '../router/types.ts';
import type { Asked, Conversation, Message, Mode, Summary, TurnLimits } from '../store/records.ts';
import type { Activity } from './activity.ts';
import type { Heard } from './heard.ts';
import type { Journal } from './journal.ts';
import type { Stopwatch } from './limits.ts';
import type { ResultText } from './transcript.ts';

export interface TurnInput {
  readonly conversation: string;
  readonly mode: Mode;
  /** The conversation holds results of a private server. */
  readonly private: boolean;
  /** What stands for the oldest turns. */
  readonly summary?: Summary;
  /** Earlier turns whole, oldest first, those with a summary included, for a given bound on the length of one tool result. */
  readonly history: (maxResultChars: number) => readonly (readonly BrainMessage[])[];
  /** Who said what before this turn's first step, the words it answers included. */
  readonly heard: Heard;
  /** The user's words that this turn answers. */
  readonly request: string;
  /** What hangs on them, as the model reads it, for a given bound on the length of each piece. */
  readonly attached?: (maxChars: number) => string;
  /** The pictures among it. */
  readonly pictures?: readonly BrainImage[];
  /** Words by which tools are looked up: the request, and what it refers to. */
  readonly lookup: string;
  /** The phone's clock in words. */
  readonly now: string;
  readonly limits: TurnLimits;
  /** Where the turn came from, where it was begun elsewhere and goes on here. */
  readonly from?: Pick<Message, 'source'>;
  /** The person sent this turn to a place of their choice. */
  readonly place?: 'phone' | 'cloud';
}

export interface Ports {
  readonly toolbox: Toolbox;
  readonly router: Router;
  readonly gate: Gate;
  readonly journal: Journal;
  readonly resultText: ResultText;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Lets whoever else needs this thread have it, e.g. a screen that draws and hears taps. */
  readonly breathe: () => Promise<void>;
  readonly onActivity: (activity: Activity) => void;
  /** What cloud models have cost today, in US dollars; without it there is no limit. */
  readonly spent?: () => Promise<number>;
  /** The mode of the conversation, and whether it is private, as they are stored now: another tab may have changed them. */
  readonly standing?: () => Promise<Standing>;
  /** A private server's result has come in: keep the conversation on the phone from here on. */
  readonly keepPrivate: () => Promise<void>;
  /** What a server asked the person or the model since this was last called. */
  readonly asked?: (server: string) => readonly Asked[];
}

/** What a conversation lets leave the phone. */
export type Standing = Pick<Conversation, 'mode' | 'private'>;

/** What a brain is offered, as the toolbox found it. */
export type Offered = Pick<Offer, 'tools' | 'match'>;

export interface Run {
  readonly input: TurnInput;
  readonly ports: Ports;
  readonly signal: AbortSignal;
  /** Index of the first part that counts towards the limits of this run. */
  readonly begin: number;
  readonly stopwatch: Stopwatch;
  /** Tools offered in this turn, by brain: fixed for a turn, so that the prompt's prefix is. */
  readonly offers: Map<string, Offered>;
  /** All tools that are on, where it had to be known what earlier steps were offered. */
  listed: Promise<readonly Tool[]> | null;
  /** How far the calls under way are, by their ids. */
  progress: Readonly<Record<string, CallProgress>>;
  private: boolean;
  /** What held when the brain of this step was chosen. */
  chosen: Standing | null;
  /** What the day had cost when the person said Continue to its limit. */
  granted: number | null;
  /** The failure that made the router hand over; it holds for the rest of the run. */
  after: RouteContext['after'];
}
