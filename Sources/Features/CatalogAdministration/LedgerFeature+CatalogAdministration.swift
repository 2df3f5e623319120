import Ledger

extension LedgerFeature {
    /// The changes to the catalog.
    package static let catalogAdministration = LedgerFeature(tables: [.catalogChange, .catalogPicture])
}

extension Table {
    fileprivate static let catalogChange = Table(
        name: "catalog_change", family: .everywhere,
        columns: [
            .integer("number", check: "number > 0"), .integer("happened_at"), .text("changed_by"), .text("kind"),
            .text("product_id"), .text("definition").optional, .text("collection").optional,
            .integer("item_number").optional, .blob("picture_digest", count: 32).optional,
            // The bundle identifier.
            .text("app"),
            // The kind of subject that `product_id` identifies.
            .text("subject"),
        ],
        key: ["number"],
        checks: [
            "(definition IS NOT NULL) = (kind = 'defined')", "(picture_digest IS NOT NULL) = (kind = 'pictured')",
        ]
    )
    .indexed("catalog_change_of_product", by: ["product_id", "number"])

    fileprivate static let catalogPicture = Table(
        name: "catalog_picture", family: .everywhere,
        columns: [.text("collection"), .integer("number"), .blob("digest", count: 32), .blob("bytes")],
        key: ["collection", "number"], hasLargeRows: true)
}
