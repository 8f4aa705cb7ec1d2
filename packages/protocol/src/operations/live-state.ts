import Type from 'typebox'
import { ChosenId, DocumentId, OrganizationId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { described, flag, jsonObject } from '../base/schemas.ts'
import { Success } from '../resources/outcomes.ts'

export const liveState = {
  broadcast: operation({
    spec: '16.1',
    path: '/livestate/broadcast',
    versions: ['v1', 'v2'],
    access: 'apiKey',
    effect: 'write',
    body: 'flat',
    title: 'Broadcast Event',
    summary: 'Sets a live state of a document.',
    description:
      'Replaces the stored value; with `merge`, the sent keys are merged into it, one level deep. The stored value has at most 1 MiB of JSON. All clients that have the document open receive the new value. The fields can also be sent at the top level of the body, without `data` around them. The organization and the document are created if they do not exist.',
    input: Type.Object({
      organizationId: OrganizationId,
      documentId: DocumentId,
      liveStateDataId: described(ChosenId, 'Id of the live state inside the document.'),
      data: jsonObject('The new value, or with `merge` the keys to change.'),
      merge: Type.Optional(
        flag('True: the sent keys are merged into the stored value, one level deep. Default: false.'),
      ),
    }),
    output: Success,
    message: 'Event broadcasted successfully.',
    errorCode: true,
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Live state must not be larger than 1 MiB.' },
      {
        status: 'RESOURCE_EXHAUSTED',
        message:
          'A document has at most 1,000 live states and 16 MiB of them. Set one that exists to a smaller value.',
      },
    ],
    example: {
      input: {
        organizationId: 'org_1',
        documentId: 'doc_1',
        liveStateDataId: 'player',
        data: { isPlaying: true, position: 42 },
        merge: true,
      },
      output: { success: true },
    },
  }),
}
