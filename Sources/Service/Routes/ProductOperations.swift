import Features
import HTTPSupport
import Proofs

extension APIOperation {
    static let products = [
        listProducts, readProduct, listOfferings, listPictures, readPicture,
    ]

    static let listProducts = APIOperation(
        .get, "/v1/products", for: .backEndOrApp(.read), isPerApp: true,
        "listProducts", "Lists the products for sale",
        parameters: productSelection(sortedBy: "number") + [.ifNoneMatch],
        answers: [.page("A page of products.", of: ProductResource.self)],
        never: [.notFound])

    /// The parameters that select products and their order.
    static func productSelection(sortedBy order: String) -> [Parameter] {
        [
            .query("collection", "Only the products of a collection.", example: "sprout"),
            .query(
                "search",
                "Only products with this text in the identifier, or in the name or the description in any language.",
                .text(length: 1...100)),
            .query(
                "sort", "The order. A minus sign before it reverses it.",
                .one(
                    of: ["number", "-number", "price", "-price", "name", "-name", "wished", "-wished"],
                    default: order)),
            .acceptLanguage, .app,
        ]
    }

    static let readProduct = APIOperation(
        .get, "/v1/products/{product}", for: .backEndOrApp(.read), isPerApp: true,
        "readProduct", "Returns a product",
        parameters: [.acceptLanguage, .ifNoneMatch, .app],
        answers: [.json("The product.", ProductResource.self)])

    static let listOfferings = APIOperation(
        .get, "/v1/offerings", for: .backEndOrApp(.read), isPerApp: true,
        "listOfferings", "Lists the offerings of an app",
        parameters: [.ifNoneMatch, .app],
        answers: [
            .json(
                "The offerings, in the order of the catalog.",
                .object(
                    "The offerings of an app.", named: "OfferingList",
                    [
                        "currentOffering": .text(
                            "The identifier of the offering that the app shows unless it asks for another."
                        ).optional,
                        "offerings": .array(of: .offering),
                    ]
                ).closed)
        ])

    static let listPictures = APIOperation(
        .get, "/v1/pictures", for: .anybody, usesReserve: true,
        "listPictures", "Lists the addresses of the items' pictures",
        parameters: [.ifNoneMatch, .app],
        answers: [.list("The items with a picture, in order.", of: PictureResource.self)])

    static let readPicture = APIOperation(
        .get, "/v1/pictures/{collection}/{number}", for: .anybody, usesReserve: true,
        "readPicture", "Returns an item's picture",
        parameters: [
            .path("collection", "The item's number.", example: "sprout"),
            .path("number", "The item's number.", .integer(in: 0 ... .max), example: .integer(1)),
            .query("v", "The version in the picture's address."), .ifNoneMatch, .app,
        ],
        answers: [
            .content(
                "The picture.", ["image/svg+xml": .text(), "image/png": .binary, "image/jpeg": .binary]
            ).with(
                .init("Cache-Control", "The caching rule. An address with a version may be cached forever."))
        ])
}

extension PictureResource: SchemaSource {
    package static let schema = Schema(
        of: PictureResource.self, named: "Picture", "An item and its picture.",
        ["picture": "The path of the picture, with its version. A changed picture has a new path."])
}

extension Schema {
    static let offering = Schema.object(
        "A selection of products that an app shows together.", named: "Offering",
        [
            "identifier": .text().with(["examples": .array(["standard"])]),
            "description": .text(),
            "metadata": .anyObject.described("Values for the app.").optional,
            "packages": .array(of: .offeringPackage, "The packages whose products are for sale."),
        ]
    ).closed

    static let offeringPackage = Schema.object(
        "A product in an offering, under a name that the app knows.", named: "OfferingPackage",
        [
            "identifier": .text().with(["examples": .array(["$rc_monthly"])]),
            "productId": .text("The product's identifier."),
        ]
    ).closed
}
