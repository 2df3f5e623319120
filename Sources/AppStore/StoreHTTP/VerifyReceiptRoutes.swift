import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Apple's verifyReceipt, which always answers 200. The environment is that of Apple's host name in the request, else of the
/// path (`/production/verifyReceipt`, `/sandbox/verifyReceipt`), else of the store.
struct VerifyReceiptRoutes: Sendable {
    /// The maximum size of a request: a receipt in base64, with its JSON.
    private static let maximumBodySize = JSONBody.sizeWithProof
    private static let environmentsByHost: [String: AppStoreEnvironment] = [
        "buy.itunes.apple.com": .production, "sandbox.itunes.apple.com": .sandbox,
    ]

    let store: Store

    func add(to router: Router<ServiceContext>) {
        for (path, environment) in [
            ("verifyReceipt", nil), ("production/verifyReceipt", AppStoreEnvironment.production),
            ("sandbox/verifyReceipt", .sandbox),
        ] {
            for method in [HTTPRequest.Method.post, .get, .put, .delete] {
                router.on(RouterPath(path), method: method) { request, context in
                    try await answer(request, context, in: environment ?? self.environment(ofHost: request))
                }
            }
        }
    }

    private func environment(ofHost request: Request) -> AppStoreEnvironment {
        let host = request.head.authority?.split(separator: ":").first.map(String.init) ?? ""
        return Self.environmentsByHost[host] ?? store.environment
    }

    private func answer(
        _ request: Request,
        _ context: ServiceContext,
        in environment: AppStoreEnvironment
    ) async throws -> Response {
        var body: VerifyReceiptRequest?
        if request.method == .post {
            let bytes = try await RequestBytes.collect(request, context, upTo: Self.maximumBodySize)
            body = try? await BlockingWork.process(bytes.count) {
                try CheckedJSON.decode(VerifyReceiptRequest.self, from: bytes)
            }
        }
        let answer = try await BlockingWork.run { [body] in try store.verifyReceipt(body, environment: environment) }
        return JSONAnswer.response(bytes: Array(answer.json.compactText.utf8))
    }
}
