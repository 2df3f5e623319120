import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// An answer with the headers that the SDKs read.
package enum RevenueCatAnswer {
    static let requestTimeName = HTTPField.Name("X-RevenueCat-Request-Time")

    /// Returns an answer with its entity tag, or 304 without a body if the SDK has stored the answer.
    ///
    /// The SDK sends an empty tag if it has stored none. Then 304 would leave it without an answer.
    ///
    /// - Parameters:
    ///   - covered: The content that the entity tag covers, if parts of the answer change each time.
    ///   - status: 201 for a new customer.
    package static func response(
        _ json: JSONValue,
        covering covered: JSONValue? = nil,
        for request: Request,
        at moment: Timestamp,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        let tag = entityTag(of: covered ?? json)
        var headers: HTTPFields = [:]
        if let name = HTTPField.Name.revenueCatEntityTag { headers[name] = tag }
        if let requestTimeName { headers[requestTimeName] = String(moment.millisecondsSince1970) }
        if let name = HTTPField.Name.revenueCatEntityTag, status == .ok, request.headers[name] == tag {
            return Response(status: .notModified, headers: headers)
        }
        return JSONAnswer.response(bytes: JSONAnswer.encode(json), status: status, headers: headers)
    }

    /// The entity tag of an answer: 16 hexadecimal digits.
    package static func entityTag(of json: JSONValue) -> String {
        DigestAlgorithm.sha256.digest(of: JSONAnswer.encode(json)).prefix(8).hexadecimal
    }
}
