import Proofs

/// The OpenAPI description of the service, composed of one embedded text per topic.
///
/// A topic is an object with the members of an OpenAPI document. Topics share paths and the kinds of components. Each
/// operation and each component belongs to one topic.
package struct OpenAPIDocument: Sendable {
    /// A reason why topics don't compose.
    package enum Defect: Error, Equatable {
        case notAnObject
        /// The keys from the root of the document to a member that two topics define.
        case duplicateKey([String])
    }

    /// The description of this service, composed on first use.
    package static let composed: Result<OpenAPIDocument, any Error> = Result {
        try OpenAPIDocument(topics: [
            PackageResources.General_json,
            PackageResources.Accounts_json,
            PackageResources.Attributes_json,
            PackageResources.Balances_json,
            PackageResources.Catalog_json,
            PackageResources.CatalogChanges_json,
            PackageResources.CatalogOfferings_json,
            PackageResources.CatalogRights_json,
            PackageResources.Events_json,
            PackageResources.Exports_json,
            PackageResources.Figures_json,
            PackageResources.Grants_json,
            PackageResources.Monitoring_json,
            PackageResources.Notifications_json,
            PackageResources.Offerings_json,
            PackageResources.Pictures_json,
            PackageResources.Products_json,
            PackageResources.Profiles_json,
            PackageResources.Proofs_json,
            PackageResources.Receipts_json,
            PackageResources.Revocations_json,
            PackageResources.Rights_json,
            PackageResources.SeedApp_json,
            PackageResources.Subscriptions_json,
            PackageResources.Support_json,
            PackageResources.Transactions_json,
            PackageResources.UserData_json,
            PackageResources.Users_json,
            PackageResources.WebhookDeliveries_json,
            PackageResources.Webhooks_json,
            PackageResources.Wishes_json,
            enumerations,
        ])
    }

    /// The topic of the enumerations that another source defines: the page of errors, and the results of a redemption.
    package static var enumerations: [UInt8] {
        let page = String(decoding: PackageResources.Errors_md, as: UTF8.self)
        let codes = page.split(separator: "\n").filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
        let schemas: JSONObject = [
            "ErrorCode": enumeration("The error code. It never changes.", codes),
            "RedemptionResult": enumeration(
                "The outcome of the transaction.", Redemption.Result.allCases.map(\.rawValue)),
        ]
        let topic: JSONObject = ["components": .object(["schemas": .object(schemas)])]
        return Array(JSONValue.object(topic).compactText.utf8)
    }

    private static func enumeration(_ description: String, _ values: [String]) -> JSONValue {
        .object([
            "type": "string", "description": .string(description), "enum": .array(values.map { .string($0) }),
        ])
    }

    /// The number of levels below the root at which topics share objects: `paths` and `components`, then a path and a kind of
    /// component.
    private static let sharedLevels = 2

    /// The document as compact JSON in UTF-8.
    package let bytes: [UInt8]

    /// Merges topics in their order.
    ///
    /// - Throws: `JSONSyntaxError` if a topic isn't JSON, and `Defect` if topics don't compose.
    package init(topics: [[UInt8]]) throws {
        var document = JSONObject()
        for text in topics {
            guard case .object(let topic) = try JSONParser.parse(text) else { throw Defect.notAnObject }
            document = try Self.merge(topic, into: document, at: [], sharedLevels: Self.sharedLevels)
        }
        bytes = Array(JSONValue.object(document).compactText.utf8)
    }

    private static func merge(
        _ topic: JSONObject,
        into document: JSONObject,
        at path: [String],
        sharedLevels: Int
    ) throws(Defect) -> JSONObject {
        var merged = JSONObject()
        for member in document.members {
            var value = member.value
            if let addition = topic[member.key] {
                let path = path + [member.key]
                guard sharedLevels > 0, case .object(let added) = addition, case .object(let existing) = value else {
                    throw .duplicateKey(path)
                }
                value = .object(try merge(added, into: existing, at: path, sharedLevels: sharedLevels - 1))
            }
            _ = merged.add(member.key, value)
        }
        for member in topic.members where document[member.key] == nil {
            _ = merged.add(member.key, member.value)
        }
        return merged
    }
}
