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
