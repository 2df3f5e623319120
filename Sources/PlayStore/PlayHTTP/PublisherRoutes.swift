import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The routes of the Play Developer API (`/androidpublisher/v3`), with Google's paths, errors and statuses.
struct PublisherRoutes: Sendable {
    /// The maximum size of a request, in bytes. A batch of 100 products is the largest.
    private static let maximumBodySize = 1024 * 1024
    private static let root = "androidpublisher/v3/applications"

    let play: GooglePlay

    func add(to group: RouterGroup<ServiceContext>) {
        for method in [HTTPRequest.Method.get, .post, .patch, .put, .delete] {
            group.on("\(Self.root)/**", method: method) { request, context in
                do {
                    return try await answer(request, context)
                } catch {
                    return response(to: error, context)
                }
            }
        }
    }

    private func answer(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let token = AuthenticationMiddleware.credential(of: request)
        let body = try await RequestBytes.collect(request, context, upTo: Self.maximumBodySize)
        // A long query arrives as the body of a POST.
        let isOverridden =
            request.method == .post
            && HTTPField.Name.methodOverride.flatMap { request.headers[$0] } == HTTPRequest.Method.get.rawValue
        let method = isOverridden ? HTTPRequest.Method.get : request.method
        let query = isOverridden ? String(decoding: body, as: UTF8.self) : request.uri.query ?? ""
        let path = request.uri.path
        // The fault of a call is used up, so its error may not undo the transaction.
        let answer = try await BlockingWork.run { [play] in
            try play.perform { books -> Result<[UInt8]?, PublisherError> in
                let account = try books.account(ofToken: token)
                let (call, known) = try Self.call(method, path, query, isOverridden ? [] : body)
                guard try books.hasApp(call.packageName) else {
                    throw PublisherError.applicationNotFound(call.packageName)
                }
                guard account.mayUse(call.packageName) else { throw PublisherError.permissionDenied }
                let fault = try books.nextFault(ofMethod: known.identifier, token: call.path["token"])
                if let error = fault?.error, fault?.isAfterwards == false { return .failure(error) }
                let json = try known.handle(call, books)
                return fault?.error.map { .failure($0) } ?? .success(json)
            }
        }
        return try answer.get().map { JSONAnswer.response(bytes: $0) } ?? Response(status: .noContent)
    }

    /// The call that a request makes, and its method.
    ///
    /// - Throws: `PublisherError`, `notFound`, for a path of no method.
    private static func call(
        _ method: HTTPRequest.Method, _ path: String, _ query: String, _ body: [UInt8]
    ) throws -> (PublisherCall, PublisherMethod) {
        var (segments, verb) = PublisherPattern.split(path.dropFirst("/\(root)/".count))
        let packageName = segments.removeFirst()
        for known in PublisherMethod.all where known.method == method {
            guard let values = known.pattern.values(of: (segments, verb)) else { continue }
            let call = PublisherCall(
                packageName: packageName.removingPercentEncoding ?? String(packageName), path: values,
                parameters: try PublisherParameters(query), body: body)
            return (call, known)
        }
        throw PublisherError.pathUnknown
    }

    private func response(to error: any Error, _ context: ServiceContext) -> Response {
        let refusal: PublisherError
        switch error {
        case let error as PublisherError: refusal = error
        case let error as any HTTPResponseError where error.status == .contentTooLarge: refusal = .tooLarge
        default:
            // The gateway says nothing about the fault; the log does.
            _ = ProblemMiddleware.problem(of: error, context)
            refusal = .internalError
        }
        return JSONAnswer.response(bytes: refusal.json, status: .init(code: refusal.status))
    }
}
