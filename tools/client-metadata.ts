/**
 * The app's client metadata document (OAuth Client ID Metadata Documents): its address is the client
 * id, so it can only be written where the app's own address is known. Named in DEFT_ORIGIN when the
 * app is built, e.g. `DEFT_ORIGIN=https://deft.example npm run build`; without it the app registers
 * with each authorization server instead.
 */
import { clientDocument, DOCUMENT_PATH } from '../src/mcp/auth/client.ts';

/** The file for the build; null where no origin is named. Throws where it is not one over https. */
export function clientMetadataFile(
  origin: string | undefined,
): { readonly fileName: string; readonly source: string } | null {
  if (!origin) return null;
  if (!URL.canParse(origin) || new URL(origin).origin !== origin || !origin.startsWith('https:'))
    throw new Error(`DEFT_ORIGIN must be an origin such as https://deft.example, not ${origin}.`);
  return {
    fileName: DOCUMENT_PATH.slice(1),
    source: `${JSON.stringify(clientDocument(origin), null, 2)}\n`,
  };
}
