import Foundation
import HTTPSupport

/// A request to the Play Developer API, after its path, parameters and body were read.
struct PublisherCall: Sendable {
    let packageName: String
    /// The values of the path, by their names in the method's pattern.
    let path: [String: String]
    let parameters: PublisherParameters
    let body: [UInt8]

    /// A value of the path. A pattern without it is a defect of this module.
    ///
    /// - Throws: `PublisherError` if the value is missing.
    func text(_ name: String) throws(PublisherError) -> String {
        guard let value = path[name], !value.isEmpty else { throw .required(name) }
        return value
    }

    /// A value of the path that may be empty; nil if it is.
    func optionalText(_ name: String) -> String? { path[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The place of a resource of a catalog in the path. An empty identifier is none.
    var place: CatalogPlace {
        CatalogPlace(
            packageName: packageName, productId: optionalText("productId"), basePlanId: optionalText("basePlanId"),
            purchaseOptionId: optionalText("purchaseOptionId"), offerId: optionalText("offerId"))
    }

    /// A resource in the body of `patch`, with the parameters of an update.
    func update<Resource: CatalogResource>() throws -> CatalogUpdate<Resource> {
        CatalogUpdate(
            resource: try json(), updateMask: parameters["updateMask"],
            allowMissing: try parameters.flag("allowMissing"),
            regionsVersion: parameters["regionsVersion.version"])
    }

    /// A product of the older catalog in the body of `update` or `patch`, with the parameters of the request.
    func inAppProductUpdate() throws -> InAppProductRequests.Update {
        InAppProductRequests.Update(
            inappproduct: try json(), sku: try text("sku"), allowMissing: try parameters.flag("allowMissing"),
            autoConvertMissingPrices: try parameters.flag("autoConvertMissingPrices"))
    }

    /// The purchase of a one-time product whose token the path has.
    func purchase(in books: PlayBooks, of productId: String? = nil) throws -> OneTimePurchase {
        try books.apiPurchase(text("token"), of: productId, in: packageName)
    }

    /// The purchase of a subscription whose token the path has.
    func subscription(in books: PlayBooks, of productId: String? = nil) throws -> RecurringPurchase {
        try books.apiPurchase(text("token"), of: productId, in: packageName)
    }

    /// The body as JSON. No body is an empty object.
    ///
    /// - Throws: `PublisherError`, `parseError`.
    func json<Body: Decodable>(_ type: Body.Type = Body.self) throws(PublisherError) -> Body {
        do { return try CheckedJSON.decode(type, from: body.isEmpty ? Array("{}".utf8) : body) } catch {
            throw .malformed
        }
    }
}

/// The query of a request.
struct PublisherParameters: Sendable {
    /// A query names up to 1000 orders beside its other parameters.
    private static let maximumFields = 1100

    private let fields: [(name: String, value: String)]

    /// - Parameter text: The query in its encoding.
    /// - Throws: `PublisherError`, `invalidValue`, for a query with too many parameters.
    init(_ text: String) throws(PublisherError) {
        guard let form = URLEncodedForm(Array(text.utf8), upTo: Self.maximumFields) else {
            throw .invalidValue("query", "it has too many parameters.")
        }
        fields = form.fields.map {
            (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self))
        }
    }

    /// The first value of a parameter; nil if it is missing or empty.
    subscript(name: String) -> String? { all(name).first.flatMap { $0.isEmpty ? nil : $0 } }

    func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    func integer(_ name: String) throws(PublisherError) -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text) else { throw .invalidValue(name, "it has to be an integer.") }
        return number
    }

    func flag(_ name: String) throws(PublisherError) -> Bool? {
        switch self[name] {
        case nil: nil
        case "true": true
        case "false": false
        default: throw .invalidValue(name, "it has to be true or false.")
        }
    }
}

/// The pattern of a method's path below `applications/{packageName}`, such as `orders/{orderId}:refund`.
///
/// A path is split before its segments are decoded: an identifier may have an encoded slash or colon. The verb of a custom method
/// follows the last literal colon.
struct PublisherPattern: Sendable {
    private let segments: [Substring]
    private let verb: Substring?

    init(_ text: String) {
        let path = Self.split(text[...])
        (segments, verb) = (path.segments, path.verb)
    }

    /// The segments of a path, with empty ones, and the verb of a custom method.
    static func split(_ path: Substring) -> (segments: [Substring], verb: Substring?) {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = segments.last, let colon = last.lastIndex(of: ":") else { return (segments, nil) }
        segments[segments.count - 1] = last[..<colon]
        return (segments, last[last.index(after: colon)...])
    }

    /// The values of a path; nil if the pattern does not fit.
    func values(of path: (segments: [Substring], verb: Substring?)) -> [String: String]? {
        guard path.verb == verb, path.segments.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (pattern, segment) in zip(segments, path.segments) {
            if pattern.hasPrefix("{") {
                values[String(pattern.dropFirst().dropLast())] = segment.removingPercentEncoding ?? String(segment)
            } else if pattern != segment {
                return nil
            }
        }
        return values
    }
}
