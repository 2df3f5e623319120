import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// An error of Till in the form of IAPKit. Its code is Till's, which `/errors` explains.
struct IAPKitProblem: Error {
    /// The statuses of the protocol's errors. Another error of the client has the status 400.
    private static let statuses: Set<Int> = [400, 401, 403, 413, 429]

    let problem: Problem
    /// The name of the wrong field; nil if the error is about no field.
    let path: String?

    /// True if the operator or time can end the refusal of the proof.
    private let isTemporary: Bool

    init(_ problem: Problem, path: String? = nil) {
        self.problem = problem
        self.path = path
        isTemporary = false
    }

    /// The refusal of a proof. Only one that no later event can change is an error of the client.
    init(refusing problem: Problem) {
        self.problem = problem
        path = "jws"
        isTemporary = !RevenueCatErrorRule.isPermanent(problem.code)
    }

    var status: Int {
        if isTemporary, problem.status < 500 { return 503 }
        return problem.status >= 500 || Self.statuses.contains(problem.status) ? problem.status : 400
    }

    var json: JSONValue {
        var error: JSONObject = ["code": .string(problem.code), "message": .string(problem.detail)]
        if let path { _ = error.add("path", .string(path)) }
        return .object(["errors": .array([.object(error)])])
    }

    func response() -> Response {
        var headers = problem.headers
        headers[.contentType] = nil
        return JSONAnswer.response(
            bytes: JSONAnswer.encode(json), status: HTTPResponse.Status(code: status), headers: headers)
    }
}
