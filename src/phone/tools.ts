/** The phone's own tools, as they are published: data alone, so that they can be offered at once. */
import type { ToolDefinition } from '../store/records.ts';

const NO_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: false } as const;

/** The words and the order are those that the small model on the phone does best with. */
export const SET_REMINDER: ToolDefinition = {
  name: 'set_reminder',
  title: 'Set a reminder',
  description: 'Set a reminder on this phone.',
  inputSchema: {
    type: 'object',
    properties: {
      text: {
        type: 'string',
        description: 'What to be reminded of.',
        minLength: 1,
        maxLength: 500,
      },
      date: { type: 'string', description: 'Day, as YYYY-MM-DD.' },
      time: { type: 'string', description: 'Time, as HH:MM.' },
    },
    required: ['text'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
};

export const NOW: ToolDefinition = {
  name: 'now',
  title: 'Date and time',
  description: 'Get the current date, time and time zone.',
  inputSchema: NO_ARGUMENTS,
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export const DEVICE_STATUS: ToolDefinition = {
  name: 'device_status',
  title: 'Status of the phone',
  description: "Get the phone's network, battery and free storage.",
  inputSchema: NO_ARGUMENTS,
  annotations: { readOnlyHint: true, openWorldHint: false },
};
