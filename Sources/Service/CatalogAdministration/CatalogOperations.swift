import Features
import HTTPSupport
import HTTPTypes
import Proofs
import Vocabulary

/// The operations of a list of the catalog, and of each of its elements.
struct CatalogListOperations {
    /// The field with the elements.
    let name: String
    /// The path parameter that names an element.
    let parameter: String
    let list: APIOperation
    let get: APIOperation
    let define: APIOperation
    let revert: APIOperation

    /// - Parameters:
    ///   - name: The name of the list, and the last part of its path.
    ///   - element: The word for an element, with its article.
    private init(
        _ name: String,
        of element: (article: String, noun: String),
        _ parameter: String,
        _ parameters: [Parameter] = [],
        extent: String = "",
        _ schema: Schema,
        definition: Schema
    ) {
        let (article, noun) = element
        let (identifier, path) = (noun.prefix(1).uppercased() + noun.dropFirst(), "\(name)/{\(parameter)}")
        self.name = name
        self.parameter = parameter
        list = .catalog(
            .get, name, "listCatalog\(identifier)s", "Lists the definitions of all \(name)\(extent)",
            answers: [.page("A page of \(name).", name, of: schema)])
        get = .catalog(
            .get, path, "getCatalog\(identifier)", "Returns \(article) \(noun)'s definition", parameters: parameters,
            answers: [.json("The \(noun).", schema).with(.entityTag)])
        define = .catalog(
            .put, path, "define\(identifier)", "Creates or replaces \(article) \(noun)",
            parameters: parameters + [.ifMatch(noun)], body: .json(definition),
            answers: [.json("The replaced \(noun).", schema), .json("The new \(noun).", schema, status: 201)])
        revert = .catalog(
            .delete, path, "revert\(identifier)",
            "Restores the file's definition, or removes the \(noun) if the files have none",
            parameters: parameters + [.ifMatch(noun)],
            answers: [.empty("The file's definition is restored, or the \(noun) is removed.")])
    }

    static let products = CatalogListOperations(
        "products", of: ("a", "product"), "product", extent: ", including withdrawn ones", .catalogProduct,
        definition: .productDefinition)
    static let rights = CatalogListOperations(
        "rights", of: ("a", "right"), "name", [.path("name", "The name of the right.")], .catalogRight,
        definition: .rightDefinition)
    static let offerings = CatalogListOperations(
        "offerings", of: ("an", "offering"), "name", [.path("name", "The identifier of the offering.")],
        .catalogOffering, definition: .offeringDefinition)
}

extension APIOperation {
    static let catalogAdministration =
        [CatalogListOperations.products, .rights, .offerings].flatMap { [$0.list, $0.get, $0.define, $0.revert] } + [
            withdrawProduct, restoreProduct, setProductPicture, getCurrentOffering, setCurrentOffering,
            revertCurrentOffering, listCatalogChanges, undoCatalogChange,
        ]

    static let withdrawProduct = catalog(
        .put, "products/{product}/withdrawal", "withdrawProduct", "Withdraws a product from sale. Its owners keep it",
        answers: [.json("The product after the change.", .catalogProduct)])

    static let restoreProduct = catalog(
        .delete, "products/{product}/withdrawal", "restoreProduct", "Puts a withdrawn product on sale again",
        answers: [.json("The product after the change.", .catalogProduct)])

    static let setProductPicture = catalog(
        .put, "products/{product}/picture", "setProductPicture", "Sets the picture of a product's item",
        body: .multipart([
            "picture": .binary.described("An SVG, a PNG or a JPEG of up to 256 KB and 4096 × 4096 pixels.")
        ]),
        answers: [.json("The product after the change.", .catalogProduct)],
        or: [.conflict, .refused])

    static let getCurrentOffering = catalog(
        .get, "current-offering", "getCurrentOffering", "Returns the current offering",
        answers: [.json("The current offering.", .currentOffering).with(.entityTag)])

    static let setCurrentOffering = catalog(
        .put, "current-offering", "setCurrentOffering", "Makes an offering the current one",
        parameters: [.ifMatch("current offering")],
        body: .json(["identifier": .text()]),
        answers: [.json("The current offering.", .currentOffering)])

    static let revertCurrentOffering = catalog(
        .delete, "current-offering", "revertCurrentOffering", "Restores the file's current offering",
        parameters: [.ifMatch("current offering")],
        answers: [.empty("The file's current offering is restored.")])

    static let listCatalogChanges = catalog(
        .get, "changes", "listCatalogChanges", "Lists the changes of the catalog, newest first",
        parameters: [
            .query("product", "Only changes of one product."), .query("right", "Only changes of one right."),
            .query("offering", "Only changes of one offering."),
        ],
        answers: [.page("A page of changes.", "changes", of: .catalogChange)])

    static let undoCatalogChange = catalog(
        .post, "changes/{change}/undo", "undoCatalogChange",
        "Returns a product, a right or an offering to its state before a change, also before later ones",
        parameters: [.path("change", "The number of the change.", example: "12")],
        answers: [.empty("It is as before the change.")],
        or: [.conflict, .refused])

    /// An operation of the administration of an app's catalog.
    fileprivate static func catalog(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ name: String,
        _ summary: String,
        parameters: [Parameter] = [],
        body: RequestBody? = nil,
        answers: [Answer],
        or others: Set<SharedAnswer> = []
    ) -> APIOperation {
        APIOperation(
            method, "/v1/catalog/" + path, for: .backEnd(.catalog), isPerApp: true, name, summary,
            parameters: parameters + [.app], body: body, answers: answers, or: others)
    }
}

extension Schema {
    static let productDefinition = Schema.object(
        "An entry of a `.storekit` file combined with one of `Items.json`. Unknown keys are kept.",
        named: "ProductDefinition"
    ).fields([
        "type": .one(of: ["Consumable", "NonConsumable", "NonRenewingSubscription", "RecurringSubscription"]),
        "displayPrice": .text("The price in the storefront's currency.").with([
            "pattern": "^[0-9]{1,9}(\\.[0-9]{1,3})?$"
        ]),
        "referenceName": .text().optional,
        "familyShareable": .flag().optional,
        "localizations": .array(
            of: .object().fields([
                "locale": .text(length: 1 ... .max),
                "displayName": .text().optional,
                "description": .text().optional,
            ])
        ).optional,
        "collection": .text("The granted item's collection, for all products but consumables.", length: 1 ... .max)
            .optional,
        "number": .integer(in: 0 ... .max).optional,
        "duration": .text("The period of a non-renewing subscription, such as P1M.").optional,
        "balance": .text("The balance that a consumable adds to.").with(["pattern": "^[A-Za-z0-9_-]{1,64}$"])
            .optional,
        "amount": .integer(in: 1...1000000000).optional,
        "subscriptionGroupID": .text(
            "The subscription group of an auto-renewable subscription.", length: 1 ... .max
        ).optional,
        "subscriptionGroupName": .text().optional,
        "groupNumber": .integer(in: 0 ... .max).optional,
        "recurringSubscriptionPeriod": .text().optional,
    ])

    static let catalogProduct = Schema.object("A product with its administration state.", named: "CatalogProduct")
        .fields([
            "productId": .text(),
            "isWithdrawn": .flag("True if the product is withdrawn from sale."),
            "isAdministered": .flag("True if the definition differs from the files."),
            "definition": .anyObject.described("The definition, to change and send back."),
            "picture": .text("The address of the item's picture.").optional,
        ]).closed

    static let catalogChange = Schema.object(
        "A change of a product, a right, an offering or the current offering.", named: "CatalogChange"
    ).fields([
        "number": .integer(in: 1 ... .max),
        "happenedAt": .time(),
        "changedBy": .text("The API key's identifier."),
        "changedByName": .text("The name of the API key; absent if the service does not have the key.").optional,
        "kind": .one(of: CatalogChange.Kind.self),
        "productId": .text("The product; absent for a change of something else.").optional,
        "right": .text("The name of the right; absent for a change of something else.").optional,
        "offering": .text("The identifier of the offering; absent for a change of something else.").optional,
        "isOfCurrentOffering": .flag("True for a change of the current offering, which the definition names.")
            .optional,
        "definition": .anyObject.described("The definition as it was sent.").optional,
        "item": Item.schema.optional,
        "sha256": .text("The SHA-256 of the picture.").optional,
    ]).closed

    static let offeringDefinition = Schema.object(
        "An offering in the form of `Offerings.json`.", named: "OfferingDefinition"
    ).fields([
        "identifier": .text("The identifier of the path, or left out.").optional,
        "description": .text("Up to 1024 bytes."),
        "metadata": .anyObject.described("Values for the app, of up to 4096 bytes.").optional,
        "packages": .array(
            of: .object().fields([
                "identifier": .text(),
                "productID": .text(),
            ]).closed, count: 0...100),
    ]).closed

    static let catalogOffering = Schema.object("An offering with its definition.", named: "CatalogOffering").fields([
        "identifier": .text(),
        "isCurrent": .flag("True if apps show it unless they ask for another."),
        "isAdministered": .flag("True if the definition differs from the file."),
        "definition": .anyObject.described("The definition, to change and send back."),
    ]).closed

    static let currentOffering = Schema.object(
        "The offering that apps show unless they ask for another.", named: "CurrentOffering"
    ).fields([
        "identifier": .text("Absent if there is none.").optional,
        "isAdministered": .flag("True if it differs from the file."),
    ]).closed

    static let rightDefinition = Schema.object(
        "A right in the form of `Offerings.json`. It has `products`, `items` or both.", named: "RightDefinition"
    ).fields([
        "name": .text("The name of the path, or left out.").optional,
        "description": .text("Up to 1024 bytes.").optional,
        "products": .array(of: .text(), count: 0...1000).optional,
        "items": .array(of: Item.schema, count: 0...1000).optional,
    ]).closed

    static let catalogRight = Schema.object("A right with its definition.", named: "CatalogRight").fields([
        "name": .text(),
        "isAdministered": .flag("True if the definition differs from the file."),
        "definition": .anyObject.described("The definition, to change and send back."),
    ]).closed
}
