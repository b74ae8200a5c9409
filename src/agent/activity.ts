/** What a running turn is doing right now; for the status line, never stored. */
import type { CallProgress } from '../mcp/types.ts';

export type Activity =
  | { readonly kind: 'idle' }
  | { readonly kind: 'routing' }
  /** A model waits for another tab's, is being loaded, or reads the prompt. */
  | {
      readonly kind: 'preparing';
      readonly phase: 'wait' | 'load' | 'prefill';
      readonly fraction: number | null;
    }
  | { readonly kind: 'thinking' }
  | { readonly kind: 'writing' }
  | { readonly kind: 'asking'; readonly callId: string }
  | {
      readonly kind: 'calling';
      /** The call that was begun, or was heard of, last. */
      readonly callId: string;
      /** How far the calls under way are, by their ids; several may run side by side. */
      readonly progress: Readonly<Record<string, CallProgress>>;
    }
  /** Earlier turns are being summarised. */
  | { readonly kind: 'summarising' }
  /** Another tab is at work on this conversation. */
  | { readonly kind: 'elsewhere' };
