import Catalog
import Ledger
import Proofs
import Vocabulary

package struct CatalogChange: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable, SQLConvertible {
        /// The subject was created, or its definition was changed.
        case defined
        /// The subject has the definition of the files again.
        case reverted
        /// A product is no longer for sale.
        case withdrawn
        /// A product is for sale again.
        case restored
        /// The item of a product has a new picture.
        case pictured

        package var title: ChangeTitle {
            switch self {
            case .defined: ChangeTitle("Defined", korean: "정의")
            case .reverted: ChangeTitle("Reverted to the files", korean: "파일의 정의로 복원")
            case .withdrawn: ChangeTitle("Withdrawn from sale", korean: "판매 중단")
            case .restored: ChangeTitle("Returned to sale", korean: "판매 재개")
            case .pictured: ChangeTitle("New picture", korean: "새 그림")
            }
        }
    }

    package enum Content: Hashable, Sendable {
        /// The definition as JSON, in the catalog's format.
        case definition(String)
        case reversion
        case withdrawal
        case restoration
        case picture(of: Item, digest: [UInt8])

        package var kind: Kind {
            switch self {
            case .definition: .defined
            case .reversion: .reverted
            case .withdrawal: .withdrawn
            case .restoration: .restored
            case .picture: .pictured
            }
        }
    }

    /// The number of the change, from 1. It is the catalog's revision after the change.
    package let number: Int64
    package let happenedAt: Timestamp
    /// The identifier of the caller's API key.
    package let changedBy: String
    /// The bundle identifier of the app whose catalog was changed.
    package let app: String
    package let subject: CatalogSubject
    package let content: Content
}

extension CatalogChange {
    /// The change that follows a revision of the catalog.
    package init(
        of subject: CatalogSubject,
        _ content: Content,
        after revision: Int64,
        in app: String,
        by caller: String,
        at moment: Timestamp
    ) {
        self.init(
            number: revision + 1, happenedAt: moment, changedBy: caller, app: app, subject: subject, content: content)
    }
}

package enum CatalogChangeError: RuledError, Equatable {
    case productInvalid(CatalogError)
    case productTypeFixed(ProductType)
    case productBenefitFixed
    case productNotFound
    case productsTooMany
    case pictureInvalid(CatalogError)
    case pictureOfNoItem
    case picturesTooLarge
    case rightInvalid(CatalogError)
    case rightNotFound
    case rightsTooMany
    case offeringInvalid(CatalogError)
    case offeringNotFound
    case offeringsTooMany
    case changeNotFound
    case changeNotUndoable

    package var rule: ErrorRule {
        switch self {
        case .productInvalid(let error): Self.invalid("productInvalid", error)
        case .productTypeFixed(let type):
            ErrorRule(
                "productTypeFixed", .conflict,
                "The type of the product is \"\(type.rawValue)\" and cannot be changed. Define another product.",
                korean: nil)
        case .productBenefitFixed:
            ErrorRule(
                "productBenefitFixed", .conflict,
                "A user has redeemed the product, so its item, balance or duration cannot be changed. Define another "
                    + "product.",
                korean: "이미 구매한 고객이 있어 아이템, 잔액, 기간을 바꿀 수 없습니다. 다른 상품을 정의하세요.")
        case .productNotFound:
            ErrorRule(
                "productNotFound", .notFound, "The catalog has no product with this identifier.",
                korean: "카탈로그에 이 식별자의 상품이 없습니다.")
        case .productsTooMany:
            ErrorRule(
                "productsTooMany", .conflict,
                "\(CatalogService.maximumProducts) products are already defined over the API. Add others to the files.",
                korean: "정의한 상품이 너무 많습니다. 나머지는 파일에 추가하세요.")
        case .pictureInvalid(let error): Self.invalid("pictureInvalid", error)
        case .pictureOfNoItem:
            ErrorRule(
                "pictureOfNoItem", .unprocessable,
                "The product adds to a balance. Only products that grant an item have pictures.",
                korean: "잔액을 늘리는 상품에는 그림이 없습니다.")
        case .picturesTooLarge:
            ErrorRule(
                "picturesTooLarge", .conflict,
                "The pictures would exceed \(CatalogService.maximumPictures >> 20) MB in total. Upload a smaller picture.",
                korean: "그림의 전체 크기가 한도를 넘습니다. 더 작은 그림을 올리세요.")
        case .rightInvalid(let error): Self.invalid("rightInvalid", error)
        case .rightNotFound:
            ErrorRule(
                "rightNotFound", .notFound, "The catalog has no right with this name.",
                korean: "카탈로그에 이 이름의 권한이 없습니다.")
        case .rightsTooMany:
            ErrorRule(
                "rightsTooMany", .conflict,
                "The catalog has \(Catalog.maximumRights) rights already. Remove one first.",
                korean: "카탈로그의 권한이 너무 많습니다. 먼저 하나를 지우세요.")
        case .offeringInvalid(let error): Self.invalid("offeringInvalid", error)
        case .offeringNotFound:
            ErrorRule(
                "offeringNotFound", .notFound, "The catalog has no offering with this identifier.",
                korean: "카탈로그에 이 식별자의 상품 묶음이 없습니다.")
        case .offeringsTooMany:
            ErrorRule(
                "offeringsTooMany", .conflict,
                "The catalog has \(Catalog.maximumOfferings) offerings already. Remove one first.",
                korean: "카탈로그의 상품 묶음이 너무 많습니다. 먼저 하나를 지우세요.")
        case .changeNotFound:
            ErrorRule(
                "changeNotFound", .notFound, "There is no change with this number. The history lists the changes.",
                korean: "이 번호의 변경이 없습니다. 기록에 변경 목록이 있습니다.")
        case .changeNotUndoable:
            ErrorRule(
                "changeNotUndoable", .conflict, "Earlier pictures are not kept. Upload the picture again.",
                korean: "이전 그림은 보관하지 않습니다. 그림을 다시 올리세요.")
        }
    }

    private static func invalid(_ code: String, _ error: CatalogError) -> ErrorRule {
        ErrorRule(code, .unprocessable, error.message, korean: nil)
    }
}

extension CatalogSubject {
    /// The error of a product, a right or an offering.
    func invalid(_ error: CatalogError) -> CatalogChangeError {
        switch kind {
        case .product: .productInvalid(error)
        case .right: .rightInvalid(error)
        case .offering, .currentOffering: .offeringInvalid(error)
        }
    }

    package var notFound: CatalogChangeError {
        switch kind {
        case .product: .productNotFound
        case .right: .rightNotFound
        case .offering, .currentOffering: .offeringNotFound
        }
    }
}
