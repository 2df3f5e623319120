import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The routes of the Play Developer API (`/androidpublisher/v3`), with Google's paths, errors and statuses.
struct PublisherRoutes: Sendable {
    /// The maximum size of a request, in bytes. A batch of 100 products is the largest.
    static let maximumBodySize = 1024 * 1024
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
        let body = try await RequestBytes.collect(request, context, upTo: Self.maximumBodySize)
        let isOverridden =
            HTTPField.Name.methodOverride.flatMap { request.headers[$0] } == HTTPRequest.Method.get.rawValue
        let call = PublisherRequest(
            request.method, request.uri.path, request.uri.query ?? "",
            token: AuthenticationMiddleware.credential(of: request), body: body, isOverridden: isOverridden)
        let json = try await BlockingWork.run { [play] in try Self.answer(call, play) }
        return json.map { JSONAnswer.response(bytes: $0) } ?? Response(status: .noContent)
    }

    /// The answer to a request as JSON; nil if its method has none.
    static func answer(_ request: PublisherRequest, _ play: GooglePlay) throws -> [UInt8]? {
        // The fault of a call is used up, so its error may not undo the transaction.
        let answer = try play.perform { books -> Result<[UInt8]?, PublisherError> in
            let account = try books.account(ofToken: request.token)
            let (call, known) = try Self.call(request)
            guard try books.hasApp(call.packageName) else {
                throw PublisherError.applicationNotFound(call.packageName)
            }
            guard account.mayUse(call.packageName) else { throw PublisherError.permissionDenied }
            let fault = try books.nextFault(ofMethod: known.identifier, token: call.path["token"])
            if let error = fault?.error, fault?.isAfterwards == false { return .failure(error) }
            let json = try known.handle(call, books)
            return fault?.error.map { .failure($0) } ?? .success(json)
        }
        return try answer.get()
    }

    /// The call that a request makes, and its method.
    ///
    /// - Throws: `PublisherError`, `notFound`, for a path of no method.
    private static func call(_ request: PublisherRequest) throws -> (PublisherCall, PublisherMethod) {
        guard request.path.hasPrefix("/\(root)/") else { throw PublisherError.pathUnknown }
        var (segments, verb) = PublisherPattern.split(request.path.dropFirst("/\(root)/".count))
        let packageName = segments.removeFirst()
        for known in PublisherMethod.all where known.method == request.method {
            guard let values = known.pattern.values(of: (segments, verb)) else { continue }
            let call = PublisherCall(
                packageName: packageName.removingPercentEncoding ?? String(packageName), path: values,
                parameters: try PublisherParameters(request.query), body: request.body)
            return (call, known)
        }
        throw PublisherError.pathUnknown
    }

    private func response(to error: any Error, _ context: ServiceContext) -> Response {
        let refusal = Self.refusal(of: error, context)
        return JSONAnswer.response(bytes: refusal.json, status: .init(code: refusal.status))
    }

    static func refusal(of error: any Error, _ context: ServiceContext) -> PublisherError {
        switch error {
        case let error as PublisherError: return error
        case let error as any HTTPResponseError where error.status == .contentTooLarge: return .tooLarge
        default:
            // The gateway says nothing about the fault; the log does.
            _ = ProblemMiddleware.problem(of: error, context)
            return .internalError
        }
    }
}

/// A request of the Play Developer API, for itself or as a part of a batch.
struct PublisherRequest: Sendable {
    let method: HTTPRequest.Method
    let path: String
    let query: String
    /// The access token; nil without one.
    let token: String?
    let body: [UInt8]

    /// - Parameter isOverridden: True for a POST whose body is a long query.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ query: String, token: String?, body: [UInt8],
        isOverridden: Bool = false
    ) {
        let isOverridden = isOverridden && method == .post
        self.method = isOverridden ? .get : method
        self.query = isOverridden ? String(decoding: body, as: UTF8.self) : query
        self.body = isOverridden ? [] : body
        (self.path, self.token) = (path, token)
    }
}
