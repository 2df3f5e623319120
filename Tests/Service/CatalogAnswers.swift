import HTTPSupport
import Service

// Answers that the service writes member by member, as the tests read them.

struct CatalogProductResource: Decodable, Listed {
    static let listName = "products"

    let productId: String
    let isWithdrawn: Bool
    let isAdministered: Bool
    let definition: JSONContent
    let picture: String?
}

struct CatalogChangeResource: Decodable, Listed {
    static let listName = "changes"

    let number: Int64
    let happenedAt: String
    let changedBy: String
    let changedByName: String?
    let kind: String
    let productId: String?
    let right: String?
    let offering: String?
    let isOfCurrentOffering: Bool?
    let definition: JSONContent?
}

struct CatalogRightResource: Decodable, Listed {
    static let listName = "rights"

    let name: String
    let isAdministered: Bool
    let definition: JSONContent
}

struct CatalogOfferingResource: Decodable {
    let identifier: String
    let isCurrent: Bool
    let isAdministered: Bool
    let definition: JSONContent
}

struct CurrentOfferingResource: Decodable {
    let identifier: String?
    let isAdministered: Bool
}

struct OfferingList: Decodable {
    struct Offering: Decodable {
        let identifier: String
        let description: String
        let metadata: JSONContent?
        let packages: [Package]
    }

    struct Package: Decodable {
        let identifier: String
        let productId: String
    }

    let currentOffering: String?
    let offerings: [Offering]
}

struct UserRightResource: Decodable, Listed {
    static let listName = "rights"

    let name: String
    let collection: String
    let number: Int
    let source: String
    let state: String
    let since: String?
    let until: String?
    let productId: String?
    let transactionId: String?
    let grant: String?
}
