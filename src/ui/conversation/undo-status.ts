/** What became of the wish to undo a call, as its card says it. Pure. */
import type { CallPart } from '../../store/records.ts';

export interface UndoStatus {
  /** A sentence, or one word where all is well. */
  readonly text: string;
  readonly tone: 'good' | 'quiet' | 'warn';
  /** It is known not to have run: it may be asked for once more. */
  readonly again: boolean;
}

/** `busy`: the conversation is at work; else what is not finished was stopped or cut off. */
export function undoStatus(undo: CallPart, busy: boolean): UndoStatus {
  const warn = (text: string, again: boolean): UndoStatus => ({ text, tone: 'warn', again });
  switch (undo.state) {
    case 'denied':
      return { text: 'Not undone: you said no.', tone: 'quiet', again: true };
    case 'refused':
      return warn(`Not undone. ${undo.why ?? ''}`.trim(), true);
    case 'proposed':
    case 'asked':
    case 'allowed':
      if (!busy) return { text: 'Not undone: it was stopped.', tone: 'quiet', again: true };
      return {
        text: undo.state === 'asked' ? 'Undo waits for your answer' : 'Undo under way',
        tone: 'quiet',
        again: false,
      };
    case 'running':
      if (busy) return { text: 'Undo under way', tone: 'quiet', again: false };
      return warn(
        'The undo was cut off: nobody knows whether it took effect. Check before you do more.',
        false,
      );
    case 'done':
      return ended(undo.outcome);
  }
}

function ended(outcome: CallPart['outcome']): UndoStatus {
  switch (outcome?.kind) {
    case undefined:
    case 'result':
      return { text: 'Undone', tone: 'good', again: false };
    case 'tool_error':
      return {
        text: 'The undo was answered with an error. Look at what it says, and whether anything changed.',
        tone: 'warn',
        again: false,
      };
    case 'unavailable':
      return {
        text: `Not undone. ${outcome.message} ${outcome.advice}`,
        tone: 'warn',
        again: true,
      };
    case 'timeout':
    case 'unknown':
      return { text: `${outcome.message} ${outcome.advice}`, tone: 'warn', again: false };
  }
}
