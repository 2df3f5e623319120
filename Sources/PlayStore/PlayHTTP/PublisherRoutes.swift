import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird

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
            token: AuthenticationMiddleware.credential(of: request), body: body, isOverridden: isOverridden,
            isForm: PublisherRequest.isForm(request.headers[.contentType]))
        let json = try await BlockingWork.run { [play] in try Self.answer(call, play) }
        return json.map { JSONAnswer.response(bytes: $0) } ?? Response(status: .noContent)
    }

    /// The answer to a request as JSON; nil if its method has none.
    static func answer(_ request: PublisherRequest, _ play: GooglePlay) throws -> [UInt8]? {
        // The fault of a call is used up, so its error may not undo the transaction.
        let account = try play.accounts.perform { try $0.account(ofToken: request.token) }
        let answer = try play.perform { books -> Result<[UInt8]?, PublisherError> in
            let (call, known) = try Self.call(request)
            guard try books.hasApp(call.packageName) else {
                throw PublisherError.applicationNotFound(call.packageName)
            }
            guard account.mayUse(call.packageName) else { throw PublisherError.permissionDenied }
            let fault = try books.nextFault(ofMethod: known.identifier, token: call.path["token"])
            if let error = fault?.error, fault?.isAfterwards == false { return .failure(error) }
            let json = try known.handle(call, books.at(call))
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

    /// - Parameters:
    ///   - isOverridden: True for a POST whose body is a long query.
    ///   - isForm: True for a body with parameters. Google's client for Ruby sends those of a method without a body so
    ///     (google-apis-core, `HttpCommand#prepare!`).
    init(
        _ method: HTTPRequest.Method, _ path: String, _ query: String, token: String?, body: [UInt8],
        isOverridden: Bool, isForm: Bool
    ) {
        let isOverridden = isOverridden && method == .post
        let form = isOverridden || isForm ? String(decoding: body, as: UTF8.self) : ""
        self.method = isOverridden ? .get : method
        // Of a parameter in both places, that of the address counts.
        self.query = isOverridden ? form : form.isEmpty ? query : "\(query)&\(form)"
        self.body = isOverridden || isForm ? [] : body
        (self.path, self.token) = (path, token)
    }

    /// True for the media type of a form.
    static func isForm(_ contentType: String?) -> Bool {
        contentType?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
    }
}

/// Batches of calls of the Play Developer API: a body of `multipart/mixed` whose parts are requests (`application/http`), and an answer
/// of the same form. Each call succeeds or fails for itself.
struct BatchRoutes: Sendable {
    /// The maximum number of calls, as in Google's clients.
    private static let maximumCalls = 1000
    private static let lineEnd = "\r\n"

    let play: GooglePlay

    func add(to group: RouterGroup<ServiceContext>) {
        for path in ["batch", "batch/androidpublisher/v3"] {
            group.on(RouterPath(path), method: .post) { request, context in
                do {
                    return try await answer(request, context)
                } catch {
                    let refusal = PublisherRoutes.refusal(of: error, context)
                    return JSONAnswer.response(bytes: refusal.json, status: .init(code: refusal.status))
                }
            }
        }
    }

    private func answer(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let type = request.headers[.contentType] ?? ""
        guard let match = type.firstMatch(of: /^multipart\/mixed *;.*boundary="?([^";]{1,70})"?/) else {
            throw PublisherError.malformed
        }
        let boundary = String(match.1)
        let token = AuthenticationMiddleware.credential(of: request)
        let body = try await RequestBytes.collect(request, context, upTo: PublisherRoutes.maximumBodySize)
        let calls = try BatchCall.all(Data(body), boundary: boundary, token: token)
        guard (1...Self.maximumCalls).contains(calls.count) else { throw PublisherError.malformed }
        let answers = try await BlockingWork.run { [play] in
            try calls.map { call in
                try Task.checkCancellation()
                return Self.answer(to: call, play, context)
            }
        }
        let name = "batch_till"
        let text =
            answers.map { "--\(name)\(Self.lineEnd)\($0)\(Self.lineEnd)" }.joined() + "--\(name)--\(Self.lineEnd)"
        return Response(
            status: .ok, headers: [.contentType: "multipart/mixed; boundary=\(name)"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// The part of the answer to a call, without its boundary.
    private static func answer(to call: BatchCall, _ play: GooglePlay, _ context: ServiceContext) -> String {
        var (status, json): (Int, [UInt8]?) = (200, nil)
        do {
            json = try PublisherRoutes.answer(call.request, play)
            if json == nil { status = 204 }
        } catch {
            let refusal = PublisherRoutes.refusal(of: error, context)
            (status, json) = (refusal.status, refusal.json)
        }
        var lines = ["Content-Type: application/http"]
        if let identifier = call.identifier { lines.append("Content-ID: <response-\(identifier)>") }
        // The phrase after the status is optional (RFC 9112 section 4).
        lines += ["", "HTTP/1.1 \(status) "]
        if json != nil { lines.append("Content-Type: application/json; charset=UTF-8") }
        lines += ["Content-Length: \(json?.count ?? 0)", "", String(decoding: json ?? [], as: UTF8.self)]
        return lines.joined(separator: lineEnd)
    }
}

private struct BatchCall: Sendable {
    /// The text between the angle brackets of `Content-ID`; nil without one.
    let identifier: String?
    let request: PublisherRequest

    /// The calls of a body. Its lines may end with a line feed alone, as Google's Python client writes them.
    ///
    /// - Parameter token: The access token of a call without one of its own.
    /// - Throws: `PublisherError`, `parseError`.
    static func all(_ body: Data, boundary: String, token: String?) throws(PublisherError) -> [BatchCall] {
        let delimiter = Data("--\(boundary)".utf8)
        guard var start = body.range(of: delimiter)?.upperBound else { throw .malformed }
        var calls: [BatchCall] = []
        while !body[start...].starts(with: Data("--".utf8)) {
            guard let next = body.range(of: Data("\n".utf8) + delimiter, in: start..<body.endIndex) else {
                throw .malformed
            }
            calls.append(try BatchCall(body[start..<next.lowerBound], token: token))
            start = next.upperBound
        }
        return calls
    }

    private init(_ part: Data, token: String?) throws(PublisherError) {
        var lines = Lines(rest: part)
        // The rest of the line of the boundary.
        _ = lines.next()
        let head = try lines.head()
        guard head["content-type"]?.lowercased().hasPrefix("application/http") == true else { throw .malformed }
        identifier = head["content-id"].flatMap { $0.wholeMatch(of: /<([^<>\r\n]{1,256})>/) }.map { String($0.1) }
        let start = (lines.next() ?? "").split(separator: " ")
        guard start.count == 3, let method = HTTPRequest.Method(String(start[0])) else { throw .malformed }
        let fields = try lines.head()
        let target = start[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let own = fields["authorization"].flatMap { $0.wholeMatch(of: /(?i:bearer) +(\S+)/) }.map { String($0.1) }
        // A body that ends with the line end before the boundary is JSON all the same.
        request = PublisherRequest(
            method, String(target[0]), target.count > 1 ? String(target[1]) : "", token: own ?? token,
            body: lines.rest.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
                ? [] : [UInt8](lines.rest),
            isOverridden: fields["x-http-method-override"] == HTTPRequest.Method.get.rawValue,
            isForm: PublisherRequest.isForm(fields["content-type"]))
    }

    /// The lines of a text, from its beginning on.
    private struct Lines {
        var rest: Data

        /// The next line without its end; nil after the last one, or if it is not UTF-8.
        mutating func next() -> String? {
            guard !rest.isEmpty else { return nil }
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let line = rest[..<end]
            rest = end < rest.endIndex ? rest[(end + 1)...] : Data()
            return String(bytes: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, encoding: .utf8)
        }

        /// The header fields up to the empty line, with their names in small letters.
        mutating func head() throws(PublisherError) -> [String: String] {
            var fields: [String: String] = [:]
            var name = ""
            while let line = next(), !line.isEmpty {
                // A long field goes on in a line that begins with a space.
                if line.hasPrefix(" ") || line.hasPrefix("\t"), !name.isEmpty {
                    fields[name, default: ""] += " " + line.trimmingCharacters(in: .whitespaces)
                    continue
                }
                let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2 else { throw .malformed }
                name = halves[0].lowercased()
                fields[name] = halves[1].trimmingCharacters(in: .whitespaces)
            }
            return fields
        }
    }
}
