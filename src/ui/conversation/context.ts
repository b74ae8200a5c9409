/** What the parts of a conversation screen share, handed down through Svelte's context. */
import { createContext } from 'svelte';
import type { Activity, Trouble } from '../../app.ts';
import type {
  AttachmentPart,
  CallPart,
  ForeignText,
  NoticeAction,
  Sent,
} from '../../store/records.ts';
import type { Changes } from './changes.ts';

export interface ConversationContext {
  /** Reactive. */
  readonly activity: Activity;
  /**
   * Whether a fold (card, receipt, thought) is open. Kept here and not in the fold, because a list
   * that draws only what is in sight forgets the rest.
   */
  isOpen(key: string): boolean;
  setOpen(key: string, open: boolean): void;
  /** Shows the exact text that left the phone. */
  showSent(sent: Sent): void;
  /** Shows all of what hangs on the person's words. */
  showAttached(part: AttachmentPart): void;
  /** What became of attachments at their servers, while this conversation is open. */
  readonly changes: Changes;
  /** Puts words into the box, for the person to change and send; `foreign`: what others wrote of them. */
  write(words: string, foreign?: readonly ForeignText[]): void;
  /** Stops the turn, and with it the call that runs. */
  stop(): void;
  /** Has what the model no longer sees summarised for it; resolves with what went wrong, or null. */
  summarise(): Promise<Trouble | null>;
  /** Takes the summary back. */
  forgetSummary(): void;
  /** Does what a notice's button says. */
  act(action: NoticeAction): void;
  /** Whether a standing yes lets this tool run without asking. Reactive. */
  isGranted(call: CallPart): boolean;
  /** Takes that standing yes back. */
  revoke(call: CallPart): void;
  /** Makes the call that undoes this one, which is asked about first; resolves with why not, or null. */
  undo(callId: string): Promise<Trouble | null>;
  /** The newest call by which this one was to be undone. Reactive. */
  undoOf(callId: string): CallPart | undefined;
  /** Goes to a call's card, and opens it. */
  showCall(callId: string): void;
}

const [useConversation, setConversation] = createContext<ConversationContext>();
export { setConversation, useConversation };
