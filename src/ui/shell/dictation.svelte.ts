/**
 * Words by voice, with the browser's own speech recognition. On most phones that is a service of the
 * browser's maker, not the phone: the sheet says so before it listens.
 */

/** What we use of the Web Speech API; not in TypeScript's library. */
interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  onresult:
    | ((event: { readonly results: ArrayLike<ArrayLike<{ readonly transcript: string }>> }) => void)
    | null;
  onerror: ((event: { readonly error: string }) => void) | null;
  onend: (() => void) | null;
  start(): void;
  stop(): void;
  abort(): void;
}
type RecognitionClass = new () => Recognition;

function recognitionClass(): RecognitionClass | null {
  const here = globalThis as {
    SpeechRecognition?: RecognitionClass;
    webkitSpeechRecognition?: RecognitionClass;
  };
  return here.SpeechRecognition ?? here.webkitSpeechRecognition ?? null;
}

const SENTENCES: Readonly<Record<string, string>> = {
  'not-allowed':
    'The microphone is not allowed for this app. Allow it in the browser’s site settings, then try again.',
  'service-not-allowed':
    'This browser does not allow speech recognition here. Type your message instead.',
  'audio-capture': 'No microphone was found. Connect one, or type your message instead.',
  network:
    'Speech recognition needs a network in this browser, and there is none. Type your message instead.',
  'no-speech': 'Nothing was heard. Hold the phone closer and try again.',
};
const OTHERWISE = 'Speech recognition stopped. Try again, or type your message instead.';

/** One dictation; reactive. */
export class Dictation {
  text = $state('');
  listening = $state(false);
  error = $state<string | null>(null);
  readonly supported = recognitionClass() !== null;
  #recognition: Recognition | null = null;

  start(): void {
    const Class = recognitionClass();
    if (!Class || this.listening) return;
    const recognition = new Class();
    const before = this.text === '' ? '' : `${this.text.trimEnd()} `;
    recognition.lang = navigator.language;
    recognition.continuous = true;
    recognition.interimResults = true;
    recognition.onresult = ({ results }) => {
      const heard = Array.from(results, (result) => result[0]?.transcript ?? '');
      this.text = before + heard.join('').trim();
    };
    recognition.onerror = ({ error }) => {
      if (error !== 'aborted') this.error = SENTENCES[error] ?? OTHERWISE;
    };
    recognition.onend = () => {
      this.listening = false;
      this.#recognition = null;
    };
    this.error = null;
    this.#recognition = recognition;
    this.listening = true;
    try {
      recognition.start();
    } catch {
      this.listening = false;
      this.#recognition = null;
      this.error = OTHERWISE;
    }
  }

  /** Keeps what was heard. */
  stop(): void {
    this.#recognition?.stop();
  }

  /** Lets go of the microphone at once. */
  abort(): void {
    this.#recognition?.abort();
  }
}
