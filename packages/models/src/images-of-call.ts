/** Begins the images of a tool's output if the provider takes them only in a message of the user. */
export const imagesOfCall = (callId: string): string => `[The images of the output of the call ${callId}]`;
