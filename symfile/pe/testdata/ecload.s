// The load configuration of an ARM64EC file, its metadata ("CHPE"), and the variables that the loader would fill in.
	.section .rdata,"dr"
	.globl _load_config_used
	.p2align 3
_load_config_used:
	.word 0x140
	.fill 0xc4, 1, 0
	.xword __chpe_metadata
	.fill 0x70, 1, 0
	.globl __chpe_metadata
	.p2align 2
__chpe_metadata:
	.word 2
	.rva __hybrid_code_map
	.word __hybrid_code_map_count
	.rva __x64_code_ranges_to_entry_points
	.rva __arm64x_redirection_metadata
	.rva __os_arm64x_dispatch_call_no_redirect
	.rva __os_arm64x_dispatch_ret
	.rva __os_arm64x_check_call
	.rva __os_arm64x_check_icall
	.rva __os_arm64x_check_icall_cfg
	.rva __arm64x_native_entrypoint
	.rva __hybrid_auxiliary_iat
	.word __x64_code_ranges_to_entry_points_count
	.word __arm64x_redirection_metadata_count
	.rva __os_arm64x_get_x64_information
	.rva __os_arm64x_set_x64_information
	.rva __arm64x_extra_rfe_table
	.word __arm64x_extra_rfe_table_size
	.rva __os_arm64x_x64_jump
	.rva __hybrid_auxiliary_iat_copy
	.rva __hybrid_auxiliary_delayload_iat
	.rva __hybrid_auxiliary_delayload_iat_copy
	.word __hybrid_image_info_bitfield
	.data
	.p2align 3
	.irp n, __os_arm64x_dispatch_call_no_redirect,__os_arm64x_dispatch_ret,__os_arm64x_check_call,__os_arm64x_check_icall,__os_arm64x_check_icall_cfg,__os_arm64x_get_x64_information,__os_arm64x_set_x64_information,__os_arm64x_x64_jump,__os_arm64x_dispatch_call,__os_arm64x_dispatch_icall
	.globl \n
\n:
	.xword 0
	.endr
