import Features
import HTTPSupport
import Proofs

extension APIOperation {
    static let grants = [
        listUserGrants, grantItem, revokeGrant, revokeTransaction, reinstateTransaction,
    ]

    static let listUserGrants = APIOperation(
        .get, "/v1/users/{user}/grants", for: .backEnd(.read), isPerApp: true,
        "listUserGrants", "What was given without a purchase, newest first",
        answers: [.page("A page of grants, newest first.", of: GrantResource.self)])

    static let grantItem = APIOperation(
        .post, "/v1/users/{user}/grants", for: .backEnd(.grant), isPerApp: true,
        "grantItem", "Gives an item without a purchase",
        parameters: [.idempotencyKey],
        body: .json(
            "A grant.",
            [
                "item": Item.schema,
                "reason": .text("Why, in the team's own words.", length: 1...500),
                "endsAt": .anyTime("From when on it counts no more. RFC 3339; fractions of a second are cut off.")
                    .nullable
                    .optional,
            ]),
        answers: [.json("The grant.", GrantResource.self, status: 201)])

    static let revokeGrant = APIOperation(
        .put, "/v1/users/{user}/grants/{grant}/revocation", for: .backEnd(.grant), isPerApp: true,
        "revokeGrant", "Revokes a grant",
        body: .json(.reason),
        answers: [.json("The grant.", GrantResource.self)])

    static let revokeTransaction = APIOperation(
        .put, "/v1/users/{user}/transactions/{transaction}/revocation", for: .backEnd(.grant), isPerApp: true,
        "revokeTransaction", "Revokes a purchase, regardless of the App Store",
        parameters: [
            .origin, .path("transaction", "The transaction's identifier.", example: "2000000000000001"), .app,
        ],
        body: .json(.reason),
        answers: [.json("The transaction.", TransactionResource.self)],
        or: [.conflict])

    static let reinstateTransaction = APIOperation(
        .delete, "/v1/users/{user}/transactions/{transaction}/revocation", for: .backEnd(.grant), isPerApp: true,
        "reinstateTransaction", "Reinstates a purchase that the team has revoked",
        parameters: [
            .origin, .path("transaction", "The transaction's identifier.", example: "2000000000000001"), .app,
        ],
        answers: [.json("The transaction.", TransactionResource.self)],
        or: [.conflict])
}

extension GrantResource: SchemaSource {
    package static let schema = Schema(
        of: GrantResource.self, named: "Grant", "An item given without a purchase.",
        [
            "grantId": .uuid("Its identifier."),
            "reason": "Why, in the team's own words.",
            "grantedBy": "The identifier of the API key.",
            "grantedByName": "The name of the API key; absent if the service does not have the key.",
            "grantedAt": .time("When."),
            "endsAt": .time("From when on it counts no more; absent where it lasts."),
        ])
}

extension RevocationResource: SchemaSource {
    package static let schema = Schema(
        of: RevocationResource.self, named: "Revocation", "A revocation by the team.",
        [
            "revokedAt": .time("The time of the revocation."),
            "reason": "The reason, in the team's own words.",
            "revokedBy": "The identifier of the API key.",
            "revokedByName":
                "The name of the API key; absent if the service does not have the key and in answers to users.",
        ])
}

extension Schema {
    static let reason = Schema.object(
        "The reason of a revocation.", named: "Reason",
        ["reason": .text("The reason, in the team's own words.", length: 1...500)]
    ).closed
}
