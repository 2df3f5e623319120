import Hummingbird

extension RouterGroup where Context == ServiceContext {
    /// The routes that control a local store, for requests with the API key of its sandbox.
    ///
    /// - Parameter store: The store that prints the key, as the subject of a sentence.
    package func sandbox(of store: String, key: APIKey) -> RouterGroup<ServiceContext> {
        group().add(middleware: SandboxKeyMiddleware(key: key, store: store))
    }
}

private struct SandboxKeyMiddleware: RouterMiddleware {
    let key: APIKey
    let store: String

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let credential = AuthenticationMiddleware.credential(of: request), key.matches(credential) else {
            throw Problem(
                status: .unauthorized, code: "unauthenticated",
                detail: "Send the sandbox key as Authorization: Bearer KEY. \(store) prints it at its start.")
        }
        return try await next(request, context)
    }
}

/// The bodies of requests to the sandbox of a local store.
package enum SandboxBody {
    private static let maximumSize = 64 * 1024

    /// Collects a body. An empty one is an object without fields.
    package static func collect(_ request: Request, _ context: ServiceContext) async throws -> [UInt8] {
        let bytes = try await RequestBytes.collect(request, context, upTo: maximumSize)
        return bytes.isEmpty ? Array("{}".utf8) : bytes
    }

    /// The faults of the next notifications in the field `faults`.
    ///
    /// - Throws: `Problem`, `bodyInvalid`, for an unknown name.
    package static func faults(named names: [String]) throws(Problem) -> [NotificationFault] {
        var faults: [NotificationFault] = []
        for name in names {
            guard let fault = NotificationFault(name: name) else {
                throw JSONBody.invalid("Each of the field /faults has to be duplicate, reorder, drop or delay:SECONDS.")
            }
            faults.append(fault)
        }
        return faults
    }
}
