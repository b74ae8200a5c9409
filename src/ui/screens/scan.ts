/**
 * Reading a QR code through the camera, with the platform's own detector (Shape Detection API), so
 * that no picture leaves the page. Few browsers have both; elsewhere the button is not shown.
 */

interface Detector {
  detect(source: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>;
}
interface DetectorClass {
  new (options: { formats: readonly string[] }): Detector;
  getSupportedFormats(): Promise<readonly string[]>;
}

const detectorClass = (): DetectorClass | undefined =>
  (globalThis as { BarcodeDetector?: DetectorClass }).BarcodeDetector;

/** Whether this browser can read QR codes and this device has a camera. Asks for nothing. */
export async function canScan(): Promise<boolean> {
  try {
    const formats = (await detectorClass()?.getSupportedFormats()) ?? [];
    if (!formats.includes('qr_code')) return false;
    const devices = await navigator.mediaDevices.enumerateDevices();
    return devices.some(({ kind }) => kind === 'videoinput');
  } catch {
    return false;
  }
}

/** Why the camera cannot be looked through, as what happened and what to do. */
export interface ScanFault {
  readonly message: string;
  readonly advice: string;
}

const TYPED = 'Or type the address.';

export function faultOf(cause: unknown): ScanFault {
  const name = cause instanceof Error ? cause.name : '';
  if (name === 'NotAllowedError' || name === 'SecurityError')
    return {
      message: 'Deft may not use the camera.',
      advice: `Allow it in the browser's settings for this site, and scan again. ${TYPED}`,
    };
  if (name === 'NotFoundError' || name === 'OverconstrainedError')
    return { message: 'There is no camera that can be used.', advice: TYPED };
  return {
    message: 'The camera did not start.',
    advice: `Close other apps that use it, and scan again. ${TYPED}`,
  };
}

/** Pause between two looks at the picture, in milliseconds: a hand does not move faster. */
const LOOK_MS = 150;

/**
 * Looks through the camera into `video` until `read` takes a text (true), or the signal ends it. The
 * camera is off when it returns. Rejects with what the browser said where there is no picture.
 */
export async function scan(
  video: HTMLVideoElement,
  read: (text: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const Detector = detectorClass();
  if (!Detector) throw new DOMException('No detector', 'NotSupportedError');
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { facingMode: 'environment' },
  });
  try {
    video.srcObject = stream;
    await video.play();
    const detector = new Detector({ formats: ['qr_code'] });
    while (!signal.aborted) {
      // A picture that cannot be read is followed by another.
      const codes = await detector.detect(video).catch(() => []);
      if (signal.aborted || codes.some(({ rawValue }) => read(rawValue))) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  } catch (cause) {
    // Taken away while it started, e.g. by the sheet closing.
    if (!signal.aborted) throw cause;
  } finally {
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  }
}
