import { Faults } from '../fault.ts';
import { type EvalSuite, readSuiteText } from './read-evals.ts';

export const DEMO_AGENCY = 'demo';

/** The bundled agency has no folder. Its evals run on the offline model. */
const DEMO_FILE = `name: Demo
cases:
  - name: asks the clock for the time
    message: /tool clock {"timeZone":"Europe/Athens"}
    tools:
      clock: { output: "Monday, 12:00" }
    expect:
      calls: [{ tool: clock, arguments: { timeZone: Europe/Athens } }]
      notCalls: [calculate]
      text: { contains: ["12:00"] }
  - name: plans a trip as a team
    message: /team Plan 3 days in Athens for 80 euros a day.
    expect:
      calls: [send_message, calculate, transfer_to_Guide]
      text: { contains: [240] }
      maxSteps: 10
`;

export function demoEvals(): readonly EvalSuite[] {
  const context = { agency: null, models: null, recorded: new Map() };
  const suite = readSuiteText('evals/demo.yaml', DEMO_FILE, context, new Faults());
  return suite === null ? [] : [{ agency: DEMO_AGENCY, ...suite }];
}
