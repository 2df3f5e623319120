import Catalog

extension RevenueCatOfferings {
    /// The offerings of an app, with the packages whose products are for sale.
    init(_ catalog: Catalog) {
        self.init(
            currentOfferingIdentifier: catalog.currentOffering?.identifier,
            offerings: catalog.offerings.map { offering in
                Offering(
                    identifier: offering.identifier, description: offering.description,
                    metadata: offering.metadata.members.isEmpty ? nil : offering.metadata,
                    packages: catalog.packagesForSale(of: offering).map {
                        Package(identifier: $0.identifier, productIdentifier: $0.productIdentifier)
                    })
            })
    }
}
