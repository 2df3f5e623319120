import Catalog
import Features
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import ServiceLifecycle

/// The JSON of a product, right, offering or change of the catalog, and of their pages.
///
/// It is written member by member, to keep the order of a definition's members and the digits of its numbers.
enum CatalogResource {
    /// - Returns: Nil for a product, right or offering that the catalog does not have.
    static func json(of subject: CatalogSubject, in view: CatalogView) -> JSONValue? {
        let (catalog, identifier) = (view.catalog, subject.identifier)
        switch subject.kind {
        case .product:
            return catalog.definition(of: identifier).map { definition in
                let item = catalog.benefit(of: identifier)?.item
                return .object([
                    "productId": .string(identifier),
                    "isWithdrawn": .bool(catalog.isWithdrawn(identifier)),
                    "isAdministered": .bool(catalog.isAdministered(subject)),
                    "definition": .object(definition),
                    "picture": item.flatMap { view.pictures[$0] }.map { .string($0) },
                ])
            }
        case .right:
            return catalog.right(identifier).map { right in
                .object([
                    "name": .string(right.name), "isAdministered": .bool(catalog.isAdministered(subject)),
                    "definition": .object(right.definition),
                ])
            }
        case .offering:
            return catalog.offering(identifier).map { offering in
                .object([
                    "identifier": .string(offering.identifier),
                    "isCurrent": .bool(catalog.isCurrent(offering)),
                    "isAdministered": .bool(catalog.isAdministered(subject)),
                    "definition": .object(offering.definition),
                ])
            }
        case .currentOffering:
            return .object([
                "isAdministered": .bool(catalog.isAdministered(subject)),
                "identifier": (catalog.currentOffering?.identifier).map { .string($0) },
            ])
        }
    }

    /// - Parameter keys: The names of API keys by their identifiers.
    static func change(_ change: CatalogChange, naming keys: [String: String]) -> JSONValue {
        var object: JSONObject = [
            "number": .integer(change.number), "happenedAt": .string(change.happenedAt.rfc3339),
            "changedBy": .string(change.changedBy),
        ]
        if let name = keys[change.changedBy] { _ = object.add("changedByName", .string(name)) }
        _ = object.add("kind", .string(change.content.kind.rawValue))
        switch change.subject.kind {
        case .product: _ = object.add("productId", .string(change.subject.identifier))
        case .right: _ = object.add("right", .string(change.subject.identifier))
        case .offering: _ = object.add("offering", .string(change.subject.identifier))
        case .currentOffering: _ = object.add("isOfCurrentOffering", .bool(true))
        }
        switch change.content {
        case .definition(let text):
            // The ledger stores only definitions that parsed.
            if let definition = try? JSONParser.parse(Array(text.utf8)) { _ = object.add("definition", definition) }
        case .picture(let item, let digest):
            _ = object.add("item", item.json)
            _ = object.add("sha256", .string(digest.hexadecimal))
        case .reversion, .withdrawal, .restoration: break
        }
        return .object(object)
    }

    /// - Parameter next: The `cursor` of the next page; nil on the last page.
    static func page(_ name: String, _ elements: [JSONValue], next: String?) -> JSONValue {
        var object = JSONObject()
        _ = object.add(name, .array(elements))
        if let next { _ = object.add("nextCursor", .string(next)) }
        return .object(object)
    }
}

extension CatalogService {
    /// The task that refreshes the catalog within two seconds after another process has changed it.
    package func watch(logger: Logger) -> Companion {
        Companion {
            var failures = FailureLog()
            for await _ in AsyncStream.ticks(every: .seconds(2)).cancelOnGracefulShutdown() {
                var reason: String?
                do { try await self.refresh() } catch let error as CatalogError {
                    // Products are not secret, and the operator must know which one to correct.
                    reason = error.message
                } catch {
                    reason = Problem.code(of: error)
                }
                failures.record(reason, in: logger, "catalog not refreshed", key: "reason")
            }
        }
    }
}
