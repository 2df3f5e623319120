import Catalog
import Features
import Proofs

/// An error in a form: the field and a sentence.
struct FieldProblem: Hashable, Sendable {
    /// The identifier of the field on the page. Nil if the error belongs to no field.
    var field: String?
    var title: Phrase?
    let sentence: Phrase

    /// The errors, each with a link to its field.
    ///
    /// - Parameter identifier: The identifier of the element. The script moves `problem` into the form.
    static func list(_ problems: [FieldProblem], id identifier: String) -> HTML? {
        guard !problems.isEmpty else { return nil }
        return div(.class("problem"), .role("alert"), .id(identifier)) {
            for problem in problems {
                p {
                    if let title = problem.title {
                        if let field = problem.field {
                            a(.href(fragment: field)) { title }
                        } else {
                            title
                        }
                        plain(": ")
                    }
                    bdi { problem.sentence }
                }
            }
        }
    }
}

extension CatalogError {
    /// The reason in each language. Rare reasons are in English only.
    var sentence: Phrase {
        let translations: [(start: String, english: String, korean: String)] = [
            ("the key is missing", "Fill in the field.", "값을 입력하세요."),
            ("the text is empty", "Fill in the field.", "값을 입력하세요."),
            ("it should be a whole number", "Write a whole number, 0 or more.", "0 이상의 정수를 입력하세요."),
            ("it has to be from 1 to", "", "1에서 1,000,000,000 사이여야 합니다."),
            ("it is no price", "Write a price such as 1200 or 0.99.", "1200 또는 0.99와 같은 가격을 입력하세요."),
            ("it is not a period", "Write a period such as P1W, P1M or P1Y.", "P1W, P1M, P1Y와 같은 기간을 입력하세요."),
            ("a balance's name has", "", "잔액 이름은 영문자, 숫자, -, _로 64자까지입니다."),
            ("a collection's name has", "", "컬렉션 이름은 64바이트까지이며 제어 문자를 쓸 수 없습니다."),
            ("a product's identifier has", "", "상품 식별자는 영문자, 숫자, ., -, _로 255자까지입니다."),
            ("a text is longer than", "", "텍스트가 너무 깁니다."),
            ("it is larger than", "", "정의가 너무 큽니다."),
            ("its width and height", "", "그림의 너비와 높이를 읽을 수 없습니다."),
            ("its size is", "", "그림의 너비와 높이는 \(Picture.maximumSide)픽셀까지입니다."),
            ("another app sells it as", "", "다른 앱이 같은 식별자를 다른 유형으로 판매합니다."),
        ]
        let plain = reason.prefix(1).uppercased() + reason.dropFirst() + "."
        if let known = translations.first(where: { reason.hasPrefix($0.start) }) {
            return Phrase(known.english.isEmpty ? plain : known.english, known.korean)
        }
        if reason.hasSuffix(" is given twice") {
            let item = reason.dropLast(" is given twice".count)
            return Phrase(
                "Another product grants \(item), or everybody owns it.",
                "\(item)을(를) 다른 상품이 제공하거나 모두가 소유합니다.")
        }
        if reason.hasSuffix(" is there twice") {
            let locale = reason.dropLast(" is there twice".count)
            return Phrase("The language \(locale) is there twice.", "언어 \(locale)이(가) 두 번 있습니다.")
        }
        return Phrase(same: plain)
    }
}

extension CatalogChangeError {
    /// The message in each language.
    var sentence: Phrase {
        switch self {
        case .productInvalid(let error), .pictureInvalid(let error), .rightInvalid(let error),
            .offeringInvalid(let error):
            error.sentence
        case .productTypeFixed(let type):
            Phrase(message, "상품 유형은 \(type.title.korean)이며 바꿀 수 없습니다. 다른 상품을 정의하세요.")
        default: rule.korean.map { Phrase(message, $0) } ?? Phrase(same: message)
        }
    }
}
