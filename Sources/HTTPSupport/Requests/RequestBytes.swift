import HTTPTypes
import Hummingbird

/// The bytes of a request's body.
package enum RequestBytes {
    /// The maximum memory reserved for announced bytes that have not arrived.
    private static let maximumReserved = 16 * 1024

    /// Collects a body as it arrives.
    ///
    /// - Parameter maximumSize: The maximum size of the body, in bytes.
    /// - Throws: `Problem` with the code `tooBusy` if too many bytes are in flight; `HTTPError` if the body is too
    ///   large.
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
                try lease?.reserve(chunk.readableBytes)
                if bytes.isEmpty, let length { bytes.reserveCapacity(min(length, maximumReserved)) }
                bytes.append(contentsOf: chunk.readableBytesView)
            }
        } catch let problem as Problem {
            throw problem
        } catch let error as any HTTPResponseError {
            throw error
        } catch {
            // The client has disconnected. This is not a failure of the service.
            throw Problem(
                status: .badRequest, code: "httpError", detail: "The connection closed before the end of the body.")
        }
        return bytes
    }
}
