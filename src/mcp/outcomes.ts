/**
 * How the end of a call is put to the person and to the model. Promise: whatever may have taken
 * effect without an answer is called "outcome unknown", in those words.
 */
import type { Outcome, OutcomeDetail } from '../store/records.ts';
import type { CallEnd } from './connection-types.ts';
import type { HostError } from './types.ts';

const MAY_HAVE_RUN = 'It may have taken effect. Check before you try it again.';

export function unavailable(code: string, message: string, advice: string): Outcome {
  return { kind: 'unavailable', code, message, advice };
}

export function failed(error: HostError): Outcome {
  const { code, message, advice } = error;
  return { kind: 'unavailable', code, message, advice, ...detailOf(error) };
}

/** For the report. What a call was told is kept with it: nobody can ask again how it went. */
function detailOf({ seen, detail }: Pick<HostError, 'seen' | 'detail'>): {
  detail?: OutcomeDetail;
} {
  if (!seen && !detail) return {};
  return { detail: { ...(seen ? { seen } : {}), ...(detail ? { text: detail } : {}) } };
}

export function unknown(message: string, error: Pick<HostError, 'seen' | 'detail'> = {}): Outcome {
  return {
    kind: 'unknown',
    message: `Outcome unknown: ${message}`,
    advice: MAY_HAVE_RUN,
    ...detailOf(error),
  };
}

export function stopped(mayHaveRun: boolean): Outcome {
  return mayHaveRun
    ? unknown('the call was stopped while it ran.')
    : unavailable('stopped', 'The call was stopped.', 'Nothing was changed by it.');
}

/** Faults that may be gone a moment later. */
export function isPassing(error: HostError): boolean {
  return error.code === 'unreachable' || error.code === 'server';
}

/** `safe`: the call changes nothing, or nothing more where it runs twice. */
export function outcomeOf(end: CallEnd, serverName: string, safe: boolean): Outcome {
  switch (end.kind) {
    case 'answer':
      return end.isError
        ? { kind: 'tool_error', content: end.content }
        : {
            kind: 'result',
            content: end.content,
            ...('structured' in end ? { structured: end.structured } : {}),
            ...(end.note === undefined ? {} : { note: end.note }),
          };
    case 'refused':
      return {
        kind: 'tool_error',
        content: [{ type: 'text', text: end.message }],
        ...detailOf(end),
      };
    case 'session-gone':
      return unavailable(
        'protocol',
        `${serverName} does not keep its sessions.`,
        'Try again in a while, or tell whoever runs the server.',
      );
    case 'era-gone':
      return safe || end.ran === 'no' ? failed(end.error) : unknown(end.error.message, end.error);
    case 'not-run':
      return failed(end.error);
    case 'lost':
      if (safe) return failed(end.error);
      return unknown(
        end.error.code === 'unreachable' || end.sessionGone
          ? `the connection to ${serverName} broke before its answer came.`
          : end.error.message,
        end.error,
      );
    case 'timeout': {
      const { message, advice } = end.error;
      return safe
        ? { kind: 'timeout', message, advice, ...detailOf(end.error) }
        : unknown(message, end.error);
    }
    case 'aborted':
      return stopped(!safe);
  }
}

/** The list that the call was made from is out of date. Older servers say so in a result. */
export function isUnknownTool(end: CallEnd): boolean {
  const text =
    end.kind === 'refused'
      ? end.message
      : end.kind === 'answer' && end.isError
        ? String(end.content[0]?.text ?? '')
        : '';
  return /unknown tool|\btool\b.{0,80}\bnot found/i.test(text.slice(0, 200));
}
