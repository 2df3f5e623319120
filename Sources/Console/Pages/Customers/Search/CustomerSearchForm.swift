import Proofs

/// The field that searches for customers. The results follow the typing.
struct CustomerSearchForm {
    let text: String

    var html: HTML {
        form(
            .class("card"), .role("search"), .ariaLabel(Phrase("Find a customer", "고객 찾기")), .method("get"),
            .action(ConsolePath("customers")),
            HTMLAttribute("data-live", "results")
        ) {
            div(.class("field")) {
                label(.for("customer-search")) {
                    Phrase(
                        "User name, account token, transaction, order or product", "사용자 이름, 계정 토큰, 거래, 주문 또는 상품")
                }
                input(
                    .type("search"), .id("customer-search"), .name("search"), .value(text),
                    HTMLAttribute("maxlength", "256"), HTMLAttribute("autocomplete", "off"))
            }
            button(.class("primary")) { Phrase("Search", "검색") }
        }
    }
}
