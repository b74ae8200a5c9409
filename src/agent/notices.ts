/** Sentences for the person where a step cannot be taken or has failed. */
import type { BrainError, BrainErrorKind, Place } from '../brain/brain.ts';
import type { Route } from '../router/types.ts';
import type { NoticeAction, NoticePart } from '../store/records.ts';

type Notice = Omit<NoticePart, 'kind' | 'step'>;

const ROUTE_ACTION: Record<Extract<Route, { ok: false }>['code'], NoticeAction> = {
  'no-model': 'models',
  'no-key': 'keys',
  offline: 'retry',
  private: 'retry',
  window: 'retry',
  'no-handover': 'retry',
};

export function routeNotice(route: Extract<Route, { ok: false }>): Notice {
  return {
    code: `route-${route.code}`,
    text: route.message,
    advice: route.advice,
    action: ROUTE_ACTION[route.code],
  };
}

function actionFor(kind: BrainErrorKind, place: Place): NoticeAction {
  if (kind === 'auth' || kind === 'payment' || kind === 'model') return 'keys';
  if (kind === 'absent') return place === 'phone' ? 'models' : 'keys';
  return 'retry';
}

export function brainNotice(error: BrainError, place: Place): Notice {
  return {
    code: `brain-${error.kind}`,
    text: error.message,
    advice: error.advice,
    action: actionFor(error.kind, place),
    ...(error.detail ? { detail: error.detail } : {}),
  };
}
