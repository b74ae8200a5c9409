/** One open conversation for the screen: its view, drawn anew whenever the session says so. */
import type { Session, SessionView } from '../../app.ts';

export interface OpenConversation {
  /** Reactive. Views are immutable and keep what did not change. */
  readonly view: SessionView;
  readonly session: Session;
  close(): void;
}

export function openConversation(session: Session): OpenConversation {
  let view = $state.raw(session.view());
  const release = session.subscribe((next) => (view = next));
  return {
    get view() {
      return view;
    },
    session,
    close() {
      release();
      session.close();
    },
  };
}
