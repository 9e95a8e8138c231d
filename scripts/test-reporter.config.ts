import { testReport } from './test-report.ts';

/** The test runner takes a reporter by its default export alone. */
export default testReport;
