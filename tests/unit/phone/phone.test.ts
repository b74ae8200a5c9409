import { describe, expect, it } from 'vitest';
import { resultText } from '../../../src/mcp/render.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import type { Device } from '../../../src/phone/device.ts';
import { createPhone } from '../../../src/phone/phone.ts';
import { newHost, newStore, never } from '../mcp/setup.ts';

// The phone's clock is the machine's.
process.env.TZ = 'Asia/Kolkata';
const NOW = new Date('2026-11-29T14:05:00+05:30');
const DEVICE: Device = {
  online: () => true,
  network: () => 'wifi',
  battery: async () => ({ level: 0.82, charging: false }),
  storage: async () => ({ used: 300e6, quota: 2_000e6 }),
};

async function phone(device: Partial<Device> = {}) {
  const store = await newStore();
  const timeZone = () => 'Asia/Kolkata';
  const now = () => NOW.getTime();
  const server = createPhone({ store, now, device: { ...DEVICE, ...device } });
  const { host } = await newHost({ store, inPage: [server], online: () => false });
  const toolbox = createToolbox({ store, host, timeZone });
  const { tools } = await toolbox.offer('', { maxTools: 9, maxTokens: 9e9, cost: () => 1 });
  const bind = (name: string, args: Record<string, unknown>) =>
    toolbox.bind({ id: 'c', name, args, raw: '' }, tools, NOW);
  const call = async (name: string, args: Record<string, unknown>) => {
    const bound = bind(name, args);
    if (!bound.ok) return bound.error;
    return resultText(await toolbox.call(bound.call, never()), 'This phone', 5_000);
  };
  return { store, host, tools, bind, call };
}

describe("the phone's hands, through the same client as every server, without a network", () => {
  it('are offered at once: only reminders change something', async () => {
    const { tools } = await phone();
    expect(tools.map(({ name, readOnly, local }) => [name, readOnly, local])).toEqual([
      ['set_reminder', false, true],
      ['now', true, true],
      ['device_status', true, true],
    ]);
  });

  it('tell the time where the phone is', async () => {
    const { call } = await phone();
    // ICU knows the zone by its older name, too.
    expect(await call('now', {})).toMatch(
      /^\{"weekday":"Sunday","date":"2026-11-29","time":"14:05","zone":"Asia\/(Kolkata|Calcutta)"\}$/,
    );
  });

  it('tell how the phone is', async () => {
    const { call } = await phone();
    expect(await call('device_status', {})).toBe(
      '{"battery_percent":82,"charging":false,"online":true,"network":"wifi","free_gb":1.7}',
    );
  });

  it('leave out what the browser does not say', async () => {
    const { call } = await phone({
      online: () => false,
      network: () => null,
      battery: async () => null,
      storage: async () => null,
    });
    expect(await call('device_status', {})).toBe('{"online":false}');
  });

  it('keep a reminder at the time that was meant', async () => {
    const { call, bind, store } = await phone();
    const args = { text: ' call mum ', date: 'tomorrow', time: '9am' };
    expect(bind('set_reminder', args)).toMatchObject({
      call: { days: [{ said: 'tomorrow', shown: 'Monday, 30 November' }] },
    });
    expect(await call('set_reminder', args)).toBe('{"ok":true}');
    expect(await store.reminders.all()).toMatchObject([
      { text: 'call mum', at: Date.parse('2026-11-30T09:00:00+05:30'), state: 'waiting' },
    ]);
  });

  it('tell the person in words when it will be', async () => {
    const { host, tools } = await phone();
    const tool = tools.find(({ name }) => name === 'set_reminder');
    if (!tool) throw new Error('No tool.');
    expect(await host.callTool(tool, { text: 'x', time: '18:30' }, never())).toMatchObject({
      content: [{ text: 'Reminder set for Sunday 29 November 2026, 18:30: x' }],
    });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ date: 'next Friday', time: '17:00' }, '2026-12-04T17:00'],
    [{ date: 'next Friday' }, '2026-12-04T09:00'],
    [{ date: '8 January', time: '7:30 am' }, '2027-01-08T07:30'],
    [{ time: '16:00' }, '2026-11-29T16:00'],
    [{ time: '5 pm' }, '2026-11-29T17:00'],
    [{ time: '12 a.m.' }, '2026-11-30T00:00'],
    [{ time: '09:00' }, '2026-11-30T09:00'],
    [{ time: 'noon' }, '2026-11-30T12:00'],
    [{ date: 'today', time: '20.15' }, '2026-11-29T20:15'],
    [{}, '2026-11-29T15:05'],
  ])('understand %j', async (when, due) => {
    const { call, store } = await phone();
    await call('set_reminder', { text: 'x', ...when });
    const [reminder] = await store.reminders.all();
    expect(reminder?.at).toBe(Date.parse(`${due}:00+05:30`));
  });

  it('tell the model what it did not choose itself', async () => {
    const { call } = await phone();
    expect(await call('set_reminder', { text: 'x', date: 'tomorrow' })).toBe(
      '{"ok":true,"at":"Monday 30 November 2026, 09:00"}',
    );
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['a time that has passed', { text: 'x', date: 'yesterday' }, /has passed: Saturday 28 Nov/],
    ['a time far away', { text: 'x', date: '2099-01-01' }, /more than ten years/],
    ['a blank text', { text: '   ', date: 'tomorrow' }, /nothing to remind/],
    ['no text', { date: 'tomorrow' }, /argument text .*is missing/],
    ['a day that is none', { text: 'x', date: 'soonish' }, /must be given as YYYY-MM-DD/],
    ['a day that is not in its month', { text: 'x', date: '2027-02-30' }, /YYYY-MM-DD/],
    ['a time that is none', { text: 'x', time: '25:00' }, /must be given as HH:MM/],
    ['a number that may be any time', { text: 'x', time: '9' }, /must be given as HH:MM/],
  ])('refuse %s in words', async (_, args, words) => {
    const { call, store } = await phone();
    expect(await call('set_reminder', args)).toMatch(words);
    expect(await store.reminders.all()).toEqual([]);
  });

  it('do not fill the phone with reminders', async () => {
    const { call, store } = await phone();
    for (let i = 0; i < 500; i += 1)
      await store.reminders.put({
        id: String(i),
        text: 'x',
        at: NOW.getTime() + 1e6,
        createdAt: 0,
        state: 'waiting',
      });
    expect(await call('set_reminder', { text: 'x', date: 'tomorrow' })).toMatch(/too many/);
  });

  it('answer as the protocol says to what they do not know', async () => {
    const { host, tools } = await phone();
    const [tool] = tools;
    if (!tool) throw new Error('No tool.');
    expect(await host.callTool({ ...tool, name: 'fly' }, {}, never())).toMatchObject({
      kind: 'tool_error',
      content: [{ text: expect.stringContaining('Unknown tool: fly') }],
    });
  });
});
