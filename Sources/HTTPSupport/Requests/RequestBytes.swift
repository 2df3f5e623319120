import HTTPTypes
import Hummingbird

/// The bytes of a request's body.
package enum RequestBytes {
    /// The most memory reserved for bytes that were announced and have not arrived.
    private static let maximumReserved = 16 * 1024

    /// Collects a body as it arrives.
    ///
    /// - Parameter maximumSize: The largest body read, in bytes.
    /// - Throws: `Problem`, `tooBusy`, when too many bytes are in flight; `HTTPError` for a body that is too large.
    package static func collect(_ request: Request, _ context: ServiceContext, upTo maximumSize: Int) async throws
        -> [UInt8]
    {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > maximumSize { throw HTTPError(.contentTooLarge) }
        let lease = context.bodyLease(of: request)
        context.notes.hold(lease)
        var bytes: [UInt8] = []
        do {
            for try await chunk in request.body {
                guard bytes.count + chunk.readableBytes <= maximumSize else { throw HTTPError(.contentTooLarge) }
                try lease?.take(chunk.readableBytes)
                if bytes.isEmpty, let length { bytes.reserveCapacity(min(length, maximumReserved)) }
                bytes.append(contentsOf: chunk.readableBytesView)
            }
        } catch let problem as Problem {
            throw problem
        } catch let error as any HTTPResponseError {
            throw error
        } catch {
            // A client that has gone away reads no answer, and the service has not failed.
            throw Problem(
                status: .badRequest, code: "httpError", detail: "The connection ended before the request's body did.")
        }
        return bytes
    }
}
