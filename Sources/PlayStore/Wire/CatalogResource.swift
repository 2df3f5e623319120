import HTTPSupport

/// A resource of a catalog, which a path of identifiers names below its app: a product, or an offer below it.
package protocol CatalogResource: Codable, Sendable {
    /// The name of one resource in the bodies of requests, such as `subscriptionOffer`. Answers with several have an `s` behind it.
    static var field: String { get }
    /// The identifiers of the path, from the product on.
    static var identifiers: [CatalogIdentifier<Self>] { get }

    var packageName: String? { get set }
}

extension CatalogResource {
    /// The values of the identifiers. Missing ones are empty.
    package var levels: [String] { Self.identifiers.map { self[keyPath: $0.path] ?? "" } }
}

/// An identifier of a resource, in the resource and in the place of a request.
package struct CatalogIdentifier<Resource>: Sendable {
    package let name: String
    package let path: WritableKeyPath<Resource, String?> & Sendable
    package let place: WritableKeyPath<CatalogPlace, String?> & Sendable

    package init(
        _ name: String, _ path: WritableKeyPath<Resource, String?> & Sendable,
        _ place: WritableKeyPath<CatalogPlace, String?> & Sendable
    ) {
        (self.name, self.path, self.place) = (name, path, place)
    }
}

/// The place of a resource, as the path of a request and each request of a batch name it.
package struct CatalogPlace: Codable, Hashable, Sendable {
    package var packageName: String?
    package var productId: String?
    package var basePlanId: String?
    package var purchaseOptionId: String?
    package var offerId: String?
    /// True to delete a purchase option with its offers.
    package var force: Bool?
}

/// The state of a base plan, a purchase option or an offer.
package enum CatalogState: String, Codable, Sendable {
    case draft = "DRAFT"
    case active = "ACTIVE"
    case inactive = "INACTIVE"
    /// A purchase option that is sold to apps without purchase options alone.
    case inactivePublished = "INACTIVE_PUBLISHED"
    /// An offer of a one-time product that was ended: a pre-order.
    case cancelled = "CANCELLED"
}

/// An update of a resource: the body of a request in a batch, and the parameters of one for itself.
package struct CatalogUpdate<Resource: CatalogResource>: Decodable, Sendable {
    package var resource: Resource?
    package var updateMask: String?
    package var allowMissing: Bool?
    package var regionsVersion: OneTimeProduct.RegionsVersion?

    package init(resource: Resource, updateMask: String?, allowMissing: Bool?, regionsVersion: String?) {
        (self.resource, self.updateMask, self.allowMissing) = (resource, updateMask, allowMissing)
        self.regionsVersion = .init(version: regionsVersion)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MemberName.self)
        resource = try container.decodeIfPresent(Resource.self, forKey: MemberName(stringValue: Resource.field))
        updateMask = try container.decodeIfPresent(String.self, forKey: MemberName(stringValue: "updateMask"))
        allowMissing = try container.decodeIfPresent(Bool.self, forKey: MemberName(stringValue: "allowMissing"))
        regionsVersion = try container.decodeIfPresent(
            OneTimeProduct.RegionsVersion.self, forKey: MemberName(stringValue: "regionsVersion"))
    }
}

package struct CatalogBatch<Element: Decodable & Sendable>: Decodable, Sendable {
    package var requests: [Element]?
}

/// An answer with several resources: a page of them, or those of a batch.
package struct CatalogList<Resource: CatalogResource>: Encodable, Sendable {
    package var resources: [Resource]
    package var nextPageToken: String?

    package init(_ resources: [Resource], nextPageToken: String? = nil) {
        (self.resources, self.nextPageToken) = (resources, nextPageToken)
    }

    /// An empty list is left out, as Google does.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberName.self)
        if !resources.isEmpty { try container.encode(resources, forKey: MemberName(stringValue: Resource.field + "s")) }
        try container.encodeIfPresent(nextPageToken, forKey: MemberName(stringValue: "nextPageToken"))
    }
}

/// An object without members: a marker such as `"free": {}`, and the answer of some methods.
package struct EmptyObject: Codable, Hashable, Sendable {}
