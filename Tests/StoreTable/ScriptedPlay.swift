import Foundation
import HTTPTypes
import Hummingbird
import Proofs
import Service
import Synchronization
import TestSupport

/// A Play Developer API that answers what a row tells it.
///
/// Its paths, answers and errors are those of the discovery document `androidpublisher` v3.
final class ScriptedPlay: Sendable {
    static let packageName = "com.example.garden"

    private struct Books {
        var subscriptions: [String: JSONValue] = [:]
        var products: [String: JSONValue] = [:]
        var orders: [String: JSONValue] = [:]
        /// The one-time products of the app's catalog at Google Play.
        var catalog: [String: JSONValue] = [:]
        var voided: [JSONValue] = []
        /// Errors in place of answers, by a part of the path.
        var errors: [String: (status: Int, reason: String)] = [:]
        var acknowledged: [String] = []
    }

    private let books = Mutex(Books())

    func set(subscription token: String, _ answer: JSONValue) { books.withLock { $0.subscriptions[token] = answer } }

    func set(product token: String, _ answer: JSONValue) { books.withLock { $0.products[token] = answer } }

    func set(catalog product: String, _ answer: JSONValue) { books.withLock { $0.catalog[product] = answer } }

    func set(order: String, _ answer: JSONValue) { books.withLock { $0.orders[order] = answer } }

    func forget(order: String) { books.withLock { $0.orders[order] = nil } }

    func change(order: String, _ change: (JSONValue) -> JSONValue) {
        books.withLock { $0.orders[order] = $0.orders[order].map(change) }
    }

    func add(voided record: JSONValue) { books.withLock { $0.voided.append(record) } }

    /// Answers with an error to requests whose path contains a text; with nil as before.
    func fail(_ path: String, _ error: (status: Int, reason: String)?) { books.withLock { $0.errors[path] = error } }

    /// The paths of the acknowledgements and consumptions.
    var acknowledged: [String] { books.withLock(\.acknowledged) }

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.on("**", method: .get) { request, _ in
            let orders = request.uri.queryParameters.getAll("orderIds")
            return request.uri.path.hasSuffix("/orders:batchGet")
                ? self.answer(aboutOrders: orders.map { String($0) }, request.uri.path) : self.answer(request.uri.path)
        }
        router.on("**", method: .post) { request, _ -> Response in
            guard request.uri.path != "/token" else {
                return Self.response(
                    200, json(("access_token", "scripted"), ("expires_in", .integer(3599)), ("token_type", "Bearer")))
            }
            self.books.withLock { $0.acknowledged.append(request.uri.path) }
            return Self.response(200, json())
        }
        return router
    }

    /// "If any order ID is not found …, the entire request will fail" (orders.batchget).
    private func answer(aboutOrders identifiers: [String], _ path: String) -> Response {
        books.withLock { books in
            if let error = books.errors.first(where: { path.contains($0.key) })?.value { return Self.error(error) }
            let orders = identifiers.compactMap { books.orders[$0] }
            return orders.count == identifiers.count
                ? Self.response(200, json(("orders", .array(orders)))) : Self.error((404, "notFound"))
        }
    }

    private func answer(_ path: String) -> Response {
        // /androidpublisher/v3/applications/PACKAGE/…
        let parts = path.split(separator: "/").dropFirst(4).map { $0.removingPercentEncoding ?? String($0) }
        return books.withLock { books in
            if let error = books.errors.first(where: { path.contains($0.key) })?.value { return Self.error(error) }
            switch (parts.first, parts.dropFirst().first) {
            case ("purchases", "subscriptionsv2"):
                return Self.look(parts.last, in: books.subscriptions, besides: books.products)
            case ("purchases", "productsv2"):
                return Self.look(parts.last, in: books.products, besides: books.subscriptions)
            case ("oneTimeProducts", _): return Self.look(parts.last, in: books.catalog, besides: [:])
            case ("orders", _): return Self.look(parts.last, in: books.orders, besides: [:])
            case ("purchases", "voidedpurchases"):
                return Self.response(
                    200, books.voided.isEmpty ? json() : json(("voidedPurchases", .array(books.voided))))
            default: return Self.error((404, "notFound"))
            }
        }
    }

    /// A token of the other kind is an invalid value, an unknown one is not found.
    private static func look(
        _ key: String?, in answers: [String: JSONValue], besides others: [String: JSONValue]
    ) -> Response {
        guard let key, let answer = answers[key] else {
            return error(others[key ?? ""] == nil ? (404, "purchaseTokenNotFound") : (400, "invalid"))
        }
        return response(200, answer)
    }

    private static func error(_ error: (status: Int, reason: String)) -> Response {
        let reason = json(("message", "m"), ("domain", "androidpublisher"), ("reason", .string(error.reason)))
        let content = json(
            ("code", .integer(error.status)), ("message", "m"), ("errors", .array([reason])))
        return response(error.status, json(("error", content)))
    }

    private static func response(_ status: Int, _ body: JSONValue) -> Response {
        Response(
            status: .init(code: status), headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(string: body.compactText)))
    }

    /// The key file of a service account of this API.
    static func account(at url: URL) throws -> GoogleServiceAccount {
        let key = try TestChains.rsa.get().leaf.key
        let file = json(
            ("type", "service_account"), ("project_id", "garden"), ("private_key_id", "k"),
            ("private_key", .string(try key.pem())), ("client_email", "till@garden.iam.gserviceaccount.com"),
            ("client_id", "1"), ("token_uri", .string(url.appending(path: "token").absoluteString)))
        return try GoogleServiceAccount(json: Array(file.compactText.utf8))
    }
}
