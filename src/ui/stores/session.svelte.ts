/**
 * One open conversation for the screen. A stream changes its view hundreds of times a second: growing
 * text is drawn once a frame, everything else (a question, a new message, what is being done) at once.
 */
import type { Session, SessionView } from '../../app.ts';

export interface OpenConversation {
  /** Reactive. Views are immutable and keep what did not change. */
  readonly view: SessionView;
  readonly session: Session;
  close(): void;
}

/** A hidden page draws no frames; what is read out or notified from it may wait this long. */
const HIDDEN_MS = 250;

function onlyGrew(before: SessionView, after: SessionView): boolean {
  const last = before.messages.at(-1)?.parts.length;
  return (
    before.activity.kind === after.activity.kind &&
    before.questions.length === after.questions.length &&
    before.interrupted === after.interrupted &&
    before.conversation === after.conversation &&
    before.messages.length === after.messages.length &&
    last === after.messages.at(-1)?.parts.length
  );
}

export function openConversation(session: Session): OpenConversation {
  let view = $state.raw(session.view());
  let cancel: (() => void) | null = null;

  function draw(): void {
    cancel?.();
    cancel = null;
    view = session.view();
  }

  function drawSoon(): void {
    if (cancel) return;
    if (document.hidden) {
      const timer = setTimeout(draw, HIDDEN_MS);
      cancel = () => clearTimeout(timer);
    } else {
      const frame = requestAnimationFrame(draw);
      cancel = () => cancelAnimationFrame(frame);
    }
  }

  const release = session.subscribe((next) => {
    if (onlyGrew(view, next)) drawSoon();
    else draw();
  });
  return {
    get view() {
      return view;
    },
    session,
    close() {
      cancel?.();
      release();
      session.close();
    },
  };
}
