import type { RunEvent } from '../../../../domain/run/events.ts';
import { PlainAnswer } from '../../plain-answer.ts';
import { type ResponseContext, ResponseOutput, readEvent } from './response-output.ts';

/** A response as one object, after the end of its run. */
export class ResponseAnswer extends PlainAnswer {
  readonly #output: ResponseOutput;

  constructor(context: ResponseContext) {
    super();
    this.#output = new ResponseOutput(context);
  }

  protected note(event: RunEvent): boolean {
    readEvent(this.#output, event);
    return true;
  }

  protected finished(): string {
    return this.#output.json;
  }

  protected unfinished(): string {
    return this.#output.json;
  }
}
