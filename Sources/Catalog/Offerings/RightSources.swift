import Proofs

/// The products and items that give a right, in all apps of a service or in one.
package struct RightSources: Sendable {
    package let name: String
    package private(set) var products: Set<ByteKey>
    package private(set) var items: Set<Item>

    package init(name: String, products: [String], items: [Item]) {
        self.name = name
        self.products = Set(products.map { ByteKey($0) })
        self.items = Set(items)
    }

    fileprivate mutating func add(_ right: Right) {
        products.formUnion(right.products.map { ByteKey($0) })
        items.formUnion(right.items)
    }
}

extension Catalogs {
    /// The rights, in the order of the apps. Rights of one name are one right.
    ///
    /// - Parameter app: A bundle identifier; nil for all apps.
    package func rights(in app: String? = nil) -> [RightSources] {
        var places: [ByteKey: Int] = [:]
        var rights: [RightSources] = []
        for catalog in all where app?.hasSameBytes(as: catalog.bundleIdentifier) ?? true {
            for right in catalog.rights {
                if let place = places[ByteKey(right.name)] {
                    rights[place].add(right)
                } else {
                    places[ByteKey(right.name)] = rights.count
                    rights.append(RightSources(name: right.name, products: right.products, items: right.items))
                }
            }
        }
        return rights
    }
}
