import Proofs

/// The answer of `GET /v1/subscribers/{user}/offerings`.
package struct RevenueCatOfferings: Hashable, Sendable {
    /// A set of packages that an app offers together.
    package struct Offering: Hashable, Sendable {
        package let identifier: String
        package let description: String
        /// The team's own values for the app; nil for none.
        package let metadata: JSONObject?
        package let packages: [Package]

        package init(identifier: String, description: String, metadata: JSONObject? = nil, packages: [Package]) {
            self.identifier = identifier
            self.description = description
            self.metadata = metadata
            self.packages = packages
        }
    }

    /// A product under a name that the app knows, such as `$rc_monthly`.
    package struct Package: Hashable, Sendable {
        package let identifier: String
        package let productIdentifier: String

        package init(identifier: String, productIdentifier: String) {
            self.identifier = identifier
            self.productIdentifier = productIdentifier
        }
    }

    /// Nil if no offering is current.
    package let currentOfferingIdentifier: String?
    package let offerings: [Offering]

    package init(currentOfferingIdentifier: String?, offerings: [Offering]) {
        self.currentOfferingIdentifier = currentOfferingIdentifier
        self.offerings = offerings
    }

    package var json: JSONValue {
        .object([
            "current_offering_id": .text(currentOfferingIdentifier),
            "offerings": .array(offerings.map(\.json)),
        ])
    }
}

extension RevenueCatOfferings.Offering {
    fileprivate var json: JSONValue {
        .object([
            "description": .string(description),
            "identifier": .string(identifier),
            "metadata": metadata.map { .object($0) } ?? .null,
            "packages": .array(
                packages.map { package in
                    .object([
                        "identifier": .string(package.identifier),
                        "platform_product_identifier": .string(package.productIdentifier),
                    ])
                }),
        ])
    }
}
