/** Notifications of due reminders, through the service worker: the only way that phones allow. */
import type { DueReminder } from '../../app.ts';

export type NotificationsState = 'granted' | 'denied' | 'default' | 'unsupported';

export function notificationsState(): NotificationsState {
  if (!('Notification' in globalThis) || !('serviceWorker' in navigator)) return 'unsupported';
  return Notification.permission;
}

/** Asks the person, through the browser. */
export async function askForNotifications(): Promise<NotificationsState> {
  return notificationsState() === 'default'
    ? Notification.requestPermission()
    : notificationsState();
}

/** Shows one notification for each, once, where the person allowed it. */
export async function notify(due: readonly DueReminder[]): Promise<void> {
  if (notificationsState() !== 'granted') return;
  const registration = await navigator.serviceWorker.getRegistration();
  for (const reminder of due)
    await registration?.showNotification('Reminder', {
      body: reminder.text,
      tag: `reminder-${reminder.id}`,
      icon: '/icons/icon-192.png',
      badge: '/icons/monochrome-96.png',
      data: { url: '/reminders' },
    });
}
