/// The rules of a resource of a catalog: its checks, what an update may change, and its states.
protocol CatalogRules: CatalogResource {
    /// The resource in a sentence: `The offer`.
    static var noun: String { get }
    /// The members that an update mask names.
    static var maskedFields: [MaskedField<Self>] { get }
    /// The offers below the resource; nil for an offer.
    static var offers: (any CatalogResource.Type)? { get }
    /// The identifiers of the base plans or purchase options, which offers are below.
    var parts: [String] { get }
    /// The word in the requests that change states: `activateBasePlanRequest`.
    static var stateSubject: String { get }

    /// The resource of an app after the checks of all fields.
    ///
    /// - Throws: `PublisherError`, `required` or `invalidValue`, with the path of the field.
    func checked(in packageName: String) throws(PublisherError) -> Self

    /// The resource as it is kept after a write. An update changes no state, and what is new is a draft.
    ///
    /// - Parameters:
    ///   - known: The resource before an update; nil for a new one.
    /// - Throws: `PublisherError`, `invalidValue`, for a change of what is immutable.
    func settled(after known: Self?, regionsVersion: OneTimeProduct.RegionsVersion) throws(PublisherError) -> Self

    func checkParent(in books: PlayBooks) throws

    /// Checks that the resource may be deleted.
    ///
    /// - Throws: `PublisherError`, `failedPrecondition`.
    func checkDeletion() throws(PublisherError)

    /// Changes the state of the resource, or of its part at a place.
    ///
    /// - Throws: `PublisherError`, `notFound` or `failedPrecondition`.
    mutating func apply(_ action: CatalogAction, at place: CatalogPlace) throws(PublisherError)
}

extension CatalogRules {
    static var offers: (any CatalogResource.Type)? { nil }
    var parts: [String] { [] }

    func checkParent(in books: PlayBooks) {}

    func checkDeletion() {}

    /// The resource with those fields of an update that its mask names. The local Play replaces whole fields, and no part of one.
    ///
    /// - Throws: `PublisherError` for a missing mask, or one of other fields.
    func updated(to update: Self, mask: String?) throws(PublisherError) -> Self {
        guard let mask, !mask.isEmpty else { throw .required("updateMask") }
        let names = mask.split(separator: ",").map(String.init)
        let fields = mask == "*" ? Self.maskedFields : Self.maskedFields.filter { names.contains($0.name) }
        guard mask == "*" || fields.count == Set(names).count else {
            let known = Self.maskedFields.map(\.name).joined(separator: ", ")
            throw .invalidValue("updateMask", "the local Play knows \(known) and *.")
        }
        var resource = self
        for field in fields { field.copy(&resource, update) }
        return resource
    }
}

/// A member of a resource that an update may change.
struct MaskedField<Resource>: Sendable {
    let name: String
    let copy: @Sendable (inout Resource, Resource) -> Void

    init<Value>(_ name: String, _ path: WritableKeyPath<Resource, Value> & Sendable) {
        self.name = name
        copy = { $0[keyPath: path] = $1[keyPath: path] }
    }
}

/// A request to change the state of a base plan, a purchase option or an offer.
enum CatalogAction: String, CaseIterable {
    case activate
    case deactivate
    /// Ends a pre-order.
    case cancel

    /// The state after the action. What is active or inactive already stays so.
    ///
    /// - Throws: `PublisherError`, `failedPrecondition`.
    func state(after state: CatalogState?, of noun: String) throws(PublisherError) -> CatalogState {
        switch (self, state) {
        case (_, .cancelled): throw .failedPrecondition("\(noun) was cancelled.")
        case (.activate, _): return .active
        case (_, .draft), (_, nil): throw .failedPrecondition("\(noun) is a draft. Activate it first.")
        case (.deactivate, .inactivePublished): return .inactivePublished
        case (.deactivate, _): return .inactive
        case (.cancel, _): return .cancelled
        }
    }
}

extension CatalogPlace {
    private static let names: [(name: String, path: WritableKeyPath<CatalogPlace, String?> & Sendable)] = [
        ("packageName", \.packageName), ("productId", \.productId), ("basePlanId", \.basePlanId),
        ("purchaseOptionId", \.purchaseOptionId), ("offerId", \.offerId),
    ]

    /// The place of a request in a batch. It names what the path leaves open, with `-` or because it ends above.
    ///
    /// - Throws: `PublisherError`, `invalidValue`, for another place than that of the path.
    func place(of request: CatalogPlace) throws(PublisherError) -> CatalogPlace {
        var place = request
        for (name, path) in Self.names {
            guard let outer = self[keyPath: path], outer != "-" else { continue }
            guard request[keyPath: path].map({ $0 == outer }) ?? true else {
                throw .invalidValue("requests.\(name)", "it has to be that of the path.")
            }
            place[keyPath: path] = outer
        }
        return place
    }

    /// The identifiers of a kind of resource at the place.
    ///
    /// - Throws: `PublisherError`, `required`.
    func levels<Resource: CatalogResource>(of type: Resource.Type) throws(PublisherError) -> [String] {
        var levels: [String] = []
        for identifier in Resource.identifiers {
            guard let value = self[keyPath: identifier.place], !value.isEmpty else {
                throw .required(identifier.name)
            }
            levels.append(value)
        }
        return levels
    }
}

extension CatalogResource {
    /// The resource at a place, from which it takes the identifiers that it leaves out.
    ///
    /// - Throws: `PublisherError` for an identifier that is missing, or is another than that of the place.
    func placed(at place: CatalogPlace) throws(PublisherError) -> Self {
        var resource = self
        for identifier in Self.identifiers {
            let outer = place[keyPath: identifier.place].flatMap { ["", "-"].contains($0) ? nil : $0 }
            let own = resource[keyPath: identifier.path]
            guard own == nil || outer == nil || own == outer else {
                throw .invalidValue("\(Self.field).\(identifier.name)", "it has to be that of the path.")
            }
            guard let value = own ?? outer, !value.isEmpty else { throw .required("\(Self.field).\(identifier.name)") }
            resource[keyPath: identifier.path] = value
        }
        return resource
    }

    /// The resource in an app.
    ///
    /// - Throws: `PublisherError`, `invalidValue`, for the name of another app.
    func placed(in packageName: String) throws(PublisherError) -> Self {
        guard self.packageName.map({ $0 == packageName }) ?? true else {
            throw .invalidValue("\(Self.field).packageName", "it has to be that of the path.")
        }
        var resource = self
        resource.packageName = packageName
        return resource
    }
}

/// Checks that the resources of a catalog share. Each throws `PublisherError`, `required` or `invalidValue`, with the path of the field.
enum CatalogCheck {
    /// The limits that Google documents.
    private static let identifierLength = 63
    private static let tagLength = 20
    private static let maximumTags = 20

    /// Checks the identifier of a base plan, a purchase option or an offer.
    static func identifier(_ text: String?, _ field: String) throws(PublisherError) {
        guard let text else { throw .required(field) }
        guard text.utf8.count <= identifierLength, text.wholeMatch(of: /[a-z0-9][a-z0-9-]*/) != nil else {
            throw .invalidValue(
                field,
                "it begins with a digit or small letter, and has at most \(identifierLength) digits, small letters and hyphens."
            )
        }
    }

    static func tags(_ tags: [OneTimeProduct.OfferTag]?, _ field: String) throws(PublisherError) {
        guard (tags ?? []).count <= maximumTags else { throw .invalidValue(field, "at most \(maximumTags).") }
        for tag in tags ?? [] {
            guard let text = tag.tag, text.utf8.count <= tagLength, text.wholeMatch(of: /[a-z0-9-]+/) != nil else {
                throw .invalidValue(
                    "\(field).tag", "it has 1 to \(tagLength) digits, small letters and hyphens.")
            }
        }
    }

    static func region(_ code: String?, _ field: String) throws(PublisherError) {
        guard code?.wholeMatch(of: /[A-Z]{2}/) != nil else {
            throw .invalidValue(field, "a country of ISO 3166-1 alpha-2, such as US.")
        }
    }

    /// Checks the countries of a list, each another one.
    static func regions(_ codes: [String?], _ field: String) throws(PublisherError) {
        for code in codes { try region(code, "\(field).regionCode") }
        try different(codes, "regionCode", field)
    }

    /// Checks that the members of a list differ in a field.
    static func different(_ values: [String?], _ name: String, _ field: String) throws(PublisherError) {
        guard Set(values).count == values.count else { throw .invalidValue(field, "each needs another \(name).") }
    }

    /// Checks that a value has one of several members.
    ///
    /// - Parameter rule: The sentence of the refusal.
    static func one(of members: [Bool], _ field: String, _ rule: String) throws(PublisherError) {
        guard members.count(where: \.self) == 1 else { throw .invalidValue(field, rule) }
    }

    static func value(_ text: String?, among values: [String], _ field: String) throws(PublisherError) {
        guard let text, values.contains(text) else {
            throw .invalidValue(field, "one of \(values.joined(separator: ", ")).")
        }
    }

    /// The index of a part of a product: of a base plan or a purchase option.
    ///
    /// - Parameter noun: The part in a sentence: `The base plan`.
    /// - Throws: `PublisherError`, `notFound`, for an unknown part.
    static func index(of identifier: String?, among parts: [String?]?, _ field: String, _ noun: String)
        throws(PublisherError) -> Int
    {
        guard let identifier else { throw .required(field) }
        guard let index = parts?.firstIndex(of: identifier) else { throw .notFound("\(noun) \(identifier.prefix(64))") }
        return index
    }

    /// Checks a price, which is in the currency of its region.
    static func price(_ price: Money, in regionCode: String?, _ field: String) throws(PublisherError) {
        try amount(price, field)
        let expected = regionCode.flatMap { PlayRegion.all[$0]?.currency }
        guard expected == nil || expected == price.currencyCode else {
            throw .invalidValue(
                field,
                "Invalid currency for region code \(regionCode ?? ""). Expected \(expected ?? "") but got \(price.currencyCode)."
            )
        }
    }

    /// Checks an amount of money above 0.
    static func amount(_ amount: Money, _ field: String) throws(PublisherError) {
        guard amount.currencyCode.wholeMatch(of: /[A-Z]{3}/) != nil, (amount.billionths ?? 0) > 0 else {
            throw .invalidValue(
                field, "an amount of at most \(Money.maximumUnits) units of a currency of ISO 4217.")
        }
    }

    /// Checks a discount as a share of the price.
    static func share(_ share: Double, _ field: String) throws(PublisherError) {
        guard share > 0, share < 1 else { throw .invalidValue(field, "more than 0, and less than 1.") }
    }
}
